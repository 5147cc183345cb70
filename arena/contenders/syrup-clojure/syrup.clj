(ns syrup
  "Canonical Syrup: a strict reference codec in plain Clojure.

  Values: booleans; longs and big integers; doubles; Single (a float of 32 bits); strings; symbols; byte arrays; vectors;
  maps; Sorted (a set of values); Tagged (a record: label and fields). `encode` writes the one canonical form; `decode`
  takes exactly one whole canonical value and throws an ex-info with the byte's position, {:at n}, on anything else.
  0.0 and -0.0 are one key in a Clojure map. Source: Syrup draft (2023-12), OCapN Model and Notation (2026-07)."
  (:import (clojure.lang BigInt Symbol)
           (java.nio ByteBuffer)
           (java.nio.charset CharacterCodingException CodingErrorAction StandardCharsets)
           (java.util Arrays)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(defrecord Single [^float value])
(defrecord Sorted [elements])
(defrecord Tagged [label fields])

(def ^:private ^:const max-depth 256)
(def ^:private ^:const nan64 0x7ff8000000000000)
(def ^:private ^:const nan32 0x7fc00000)

(defn- fail [^long at reason]
  (throw (ex-info (str "byte " at ": " reason) {:at at})))

(defmacro ^:private byte-of [c] (long c))

;; The encoder: one growing buffer, of which each result is a copy.

(definterface Writing
  (^void put [^long b])
  (^void putBytes [^bytes more])
  (^void putNumber [^long number ^long mark])
  (^void putText [^String text ^long mark])
  (^void putLong [^long bits])
  (^long length [])
  (^void cut [^long to])
  (^bytes copy [^long from])
  (^long order [^long from ^long end ^long start]))

(deftype Buffer [^:unsynchronized-mutable ^bytes data ^:unsynchronized-mutable ^long len]
  Writing
  (put [_ b]
    (when (= len (alength data)) (set! data (Arrays/copyOf data (* 2 (alength data)))))
    (aset data len (unchecked-byte b))
    (set! len (inc len)))
  (putBytes [_ more]
    (let [end (+ len (alength more))]
      (when (> end (alength data)) (set! data (Arrays/copyOf data (max end (* 2 (alength data))))))
      (System/arraycopy more 0 data len (alength more))
      (set! len end)))
  (putNumber [this number mark]
    (if (< number 10)
      (.put this (+ 48 number))
      (let [digits (long (loop [digits 1 rest (quot number 10)]
                           (if (zero? rest) digits (recur (inc digits) (quot rest 10)))))
            end (+ len digits)]
        (when (> end (alength data)) (set! data (Arrays/copyOf data (max end (* 2 (alength data))))))
        (loop [at (dec end) rest number]
          (aset data at (unchecked-byte (+ 48 (rem rest 10))))
          (when (>= rest 10) (recur (dec at) (quot rest 10))))
        (set! len end)))
    (.put this mark))
  (putText [this text mark]
    (let [bytes (.getBytes text StandardCharsets/UTF_8)]
      (.putNumber this (alength bytes) mark)
      (.putBytes this bytes)))
  (putLong [this bits]
    (.putBytes this (.array (.putLong (ByteBuffer/allocate 8) bits))))
  (length [_] len)
  (cut [_ to] (set! len to))
  (copy [_ from] (Arrays/copyOfRange data from len))
  ;; Of the bytes [from, end) and those from start on.
  (order [_ from end start]
    (Arrays/compareUnsigned data (int from) (int end) data (int start) (int len))))

(declare put-value!)

(defn- put-ascending!
  "Entries in ascending order of their keys' encodings: checked while they are written, sorted only if need be."
  [^Buffer out entries key-of rest-of]
  (let [start (.length out)]
    (when-not
     (loop [entries (seq entries) last -1 last-end 0]
       (or (nil? entries)
           (let [entry (first entries) at (.length out)]
             (put-value! out (key-of entry))
             (if (and (>= last 0) (>= (.order out last last-end at) 0))
               false
               (let [end (.length out)]
                 (when rest-of (put-value! out (rest-of entry)))
                 (recur (next entries) at end))))))
      (.cut out start)
      (let [keyed (object-array (map (fn [entry]
                                       (put-value! out (key-of entry))
                                       (let [key (.copy out start)]
                                         (.cut out start)
                                         [key entry]))
                                     entries))]
        (Arrays/sort keyed (comparator (fn [a b] (neg? (Arrays/compareUnsigned ^bytes (nth a 0) ^bytes (nth b 0))))))
        (reduce (fn [^bytes last [^bytes key entry]]
                  (when (and last (Arrays/equals last key)) (throw (IllegalArgumentException. "a key is there twice")))
                  (.putBytes out key)
                  (when rest-of (put-value! out (rest-of entry)))
                  key)
                nil keyed)))))

(defn- put-value! [^Buffer out value]
  (cond
    (string? value) (.putText out value (byte-of \"))
    (instance? Long value)
    (let [number (long value)]
      (cond
        (>= number 0) (.putNumber out number (byte-of \+))
        (= number Long/MIN_VALUE) (.putBytes out (.getBytes "9223372036854775808-"))
        :else (.putNumber out (- number) (byte-of \-))))
    (symbol? value) (.putText out (str value) (byte-of \'))
    (vector? value)
    (do (.put out (byte-of \[))
        (run! #(put-value! out %) value)
        (.put out (byte-of \])))
    (instance? Tagged value)
    (do (.put out (byte-of \<))
        (put-value! out (:label value))
        (run! #(put-value! out %) (:fields value))
        (.put out (byte-of \>)))
    (instance? Single value)
    (let [bits (Float/floatToRawIntBits (:value value))
          bits (if (Float/isNaN (:value value)) nan32 bits)]
      (.put out (byte-of \F))
      (.putBytes out (.array (.putInt (ByteBuffer/allocate 4) (unchecked-int bits)))))
    (instance? Sorted value)
    (do (.put out (byte-of \#))
        (put-ascending! out (:elements value) identity nil)
        (.put out (byte-of \$)))
    (map? value)
    (do (.put out (byte-of \{))
        (put-ascending! out value key val)
        (.put out (byte-of \})))
    (bytes? value)
    (do (.putNumber out (alength ^bytes value) (byte-of \:))
        (.putBytes out value))
    (boolean? value) (.put out (if value (byte-of \t) (byte-of \f)))
    (instance? Double value)
    (do (.put out (byte-of \D))
        (.putLong out (if (Double/isNaN value) nan64 (Double/doubleToRawLongBits value))))
    (integer? value)
    (let [number (biginteger value)]
      (.putBytes out (.getBytes (str (.abs number))))
      (.put out (if (neg? (.signum number)) (byte-of \-) (byte-of \+))))
    :else (throw (IllegalArgumentException. (str "no Syrup form of " (class value))))))

(def ^:private ^ThreadLocal buffers (ThreadLocal/withInitial #(Buffer. (byte-array 4096) 0)))

(defn encode
  "The canonical encoding of a value."
  ^bytes [value]
  (let [^Buffer out (.get buffers)]
    (.cut out 0)
    (put-value! out value)
    (.copy out 0)))

;; The decoder.

(definterface Reading
  (^long at [])
  (^void seek [^long to]))

(deftype Cursor [^bytes data ^:unsynchronized-mutable ^long position]
  Reading
  (at [_] position)
  (seek [_ to] (set! position to)))

(defmacro ^:private byte-at [data at]
  `(if (< ~at (alength ~data)) (bit-and (long (aget ~data ~at)) 0xff) (long (fail ~at "the end"))))

(declare read-value)

(defn- read-text ^String [^bytes data ^long start ^long end]
  (if (loop [at start] (or (= at end) (and (>= (aget data at) 0) (recur (inc at)))))
    (String. data start (- end start) StandardCharsets/ISO_8859_1)
    (try
      (str (.decode (doto (.newDecoder StandardCharsets/UTF_8)
                      (.onMalformedInput CodingErrorAction/REPORT)
                      (.onUnmappableCharacter CodingErrorAction/REPORT))
                    (ByteBuffer/wrap data start (- end start))))
      (catch CharacterCodingException _ (fail start "not UTF-8")))))

(defn- whole-number [^bytes data ^long start ^long end ^long number]
  (if (<= (- end start) 18)
    number
    (let [big (BigInteger. (String. data start (- end start) StandardCharsets/ISO_8859_1))]
      (if (< (.bitLength big) 64) (.longValue big) (BigInt/fromBigInteger big)))))

(defn- read-number [^bytes data ^Cursor cursor]
  (let [start (.at cursor)]
    (loop [at start number 0]
      (let [b (byte-at data at)]
        (if (and (>= b 48) (<= b 57))
          ;; Eighteen digits fit; the others are read at once, further down.
          (recur (inc at) (if (< (- at start) 18) (+ (* number 10) (- b 48)) number))
          (do
            (when (and (> (- at start) 1) (= (aget data start) 48)) (fail start "leading zero"))
            (.seek cursor (inc at))
            (case (char b)
              \+ (whole-number data start at number)
              \- (do
                   (when (= (aget data start) 48) (fail start "negative zero"))
                   (-' (whole-number data start at number)))
              (\" \' \:)
              (let [begin (inc at) end (+ begin number)]
                (when (or (> (- at start) 18) (> end (alength data))) (fail begin "cut off"))
                (.seek cursor end)
                (case (char b)
                  \" (read-text data begin end)
                  \' (Symbol/intern nil (read-text data begin end))
                  (Arrays/copyOfRange data begin end)))
              (fail at "no mark behind digits"))))))))

(defn- read-until [^bytes data ^Cursor cursor ^long depth ^long close]
  (loop [values (transient [])]
    (if (= (byte-at data (.at cursor)) close)
      (do (.seek cursor (inc (.at cursor)))
          (persistent! values))
      (recur (conj! values (read-value data cursor depth))))))

(defn- read-ascending
  "Reads keys that ascend; add takes what there is so far and a key, and reads the rest of the entry."
  [^bytes data ^Cursor cursor close add empty]
  (let [depth (long (nth close 1)) close (long (nth close 0))]
    (loop [values empty last (.at cursor) last-end (.at cursor)]
      (let [at (.at cursor)]
        (if (= (byte-at data at) close)
          (do (.seek cursor (inc at))
              (persistent! values))
          (let [key (read-value data cursor depth) end (.at cursor)]
            (when (>= (Arrays/compareUnsigned data (int last) (int last-end) data (int at) (int end)) 0)
              (fail at "key not above the last"))
            (recur (add values key) at end)))))))

(defn- read-float [^bytes data ^Cursor cursor ^long size]
  (let [at (inc (.at cursor)) end (+ at size)]
    (when (> end (alength data)) (fail at "cut off"))
    (.seek cursor end)
    (let [bits (ByteBuffer/wrap data)]
      (if (= size 8)
        (let [value (.getDouble bits at)]
          (when (and (Double/isNaN value) (not= (.getLong bits at) nan64)) (fail at "not the canonical NaN"))
          value)
        (let [value (.getFloat bits at)]
          (when (and (Float/isNaN value) (not= (.getInt bits at) nan32)) (fail at "not the canonical NaN"))
          (->Single value))))))

(defn- read-value [^bytes data ^Cursor cursor ^long depth]
  (let [at (.at cursor)
        first (byte-at data at)]
    (if (and (>= first 48) (<= first 57))
      (read-number data cursor)
      (case (char first)
        \t (do (.seek cursor (inc at)) true)
        \f (do (.seek cursor (inc at)) false)
        \D (read-float data cursor 8)
        \F (read-float data cursor 4)
        (\[ \< \{ \#)
        (let [depth (inc depth)]
          (when (> depth max-depth) (fail at "nested too deep"))
          (.seek cursor (inc at))
          (case (char first)
            \[ (read-until data cursor depth (byte-of \]))
            \< (let [label (read-value data cursor depth)]
                 (->Tagged label (read-until data cursor depth (byte-of \>))))
            \{ (read-ascending data cursor [(byte-of \}) depth]
                               (fn [entries key] (assoc! entries key (read-value data cursor depth)))
                               (transient {}))
            (->Sorted (read-ascending data cursor [(byte-of \$) depth] conj! (transient [])))))
        (fail at "no value begins here")))))

(defn decode
  "The value of one whole canonical encoding."
  [^bytes data]
  (let [cursor (Cursor. data 0)
        value (read-value data cursor 0)]
    (when (not= (.at cursor) (alength data)) (fail (.at cursor) "trailing bytes"))
    value))
