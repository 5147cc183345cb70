(ns arena-kit
  "The arena's line protocol for contenders in Clojure.

  A contender calls (serve name version ops). `ops` maps an op's id to an op: `parse` takes an item's bytes, untimed, and
  returns the contender's own types; `call`, timed, returns a collection of outputs, byte arrays, each summed by itself.
  `decoder` is for calls whose results are values: `head` of each is summed, and `verify` writes its encoding. `checked`
  writes more for `verify` than is summed. `neg` is for a decoder's negative row.

  Between calls the kit changes the items by the rule of the row: byte arrays, or vectors of them, by itself, others by
  the op's `:changes`, a map from rules to functions of an element and a word that return the changed element. The
  elements of an item that is a vector are its members."
  (:require [clojure.string :as string])
  (:import (java.io DataOutputStream FileOutputStream)
           (java.lang.management GarbageCollectorMXBean ManagementFactory)
           (java.nio ByteBuffer ByteOrder)
           (java.nio.file Files Paths)
           (java.util Arrays)))

(set! *warn-on-reflection* true)
(set! *unchecked-math* :warn-on-boxed)

(defn- word-sum
  "The sum of the little-endian words of the bytes, zero-padded."
  ^long [^bytes data]
  (let [words (.order (ByteBuffer/wrap data) ByteOrder/LITTLE_ENDIAN)
        size (alength data)
        whole (bit-and size -8)
        sum (long (loop [at 0 sum 0]
                    (if (< at whole) (recur (+ at 8) (+ sum (.getLong words at))) sum)))]
    (loop [at whole sum sum]
      (if (< at size)
        (recur (inc at) (+ sum (bit-shift-left (bit-and (long (aget data at)) 0xff) (* 8 (- at whole)))))
        sum))))

(defn- sum-all ^long [outputs]
  (long (reduce (fn [sum output] (+ (long sum) (word-sum output))) 0 outputs)))

(defn op
  "A timed operation; `call` returns a collection of byte arrays."
  [parse call]
  {:parse parse :sum (fn ^long [item] (sum-all (call item))) :written call})

(defn checked
  "`call` returns results; `parts` gives the outputs of one that are summed, `written` what goes before them."
  [parse call parts written]
  {:parse parse
   :sum (fn ^long [item] (long (reduce (fn [sum result] (+ (long sum) (sum-all (parts result)))) 0 (call item))))
   :written (fn [item] (mapcat (fn [result] (cons (written result) (parts result))) (call item)))})

(defn decoder
  "`call` returns decoded values."
  [parse call head encode]
  {:parse parse
   :sum (fn ^long [item] (long (reduce (fn [sum value] (+ (long sum) (long (head value)))) 0 (call item))))
   :written (fn [item] (map encode (call item)))})

(defn neg
  "`rejects?` says whether the library refuses an input."
  [rejects?]
  (op identity (fn [item] [(byte-array [(if (rejects? item) 1 0)])])))

(defn fields
  "Length-prefixed fields to the end."
  [^bytes data]
  (let [words (.order (ByteBuffer/wrap data) ByteOrder/LITTLE_ENDIAN)]
    (loop [at 0 found []]
      (if (= at (alength data))
        found
        (let [begin (+ at 4) end (+ begin (.getInt words at))]
          (recur end (conj found (Arrays/copyOfRange data begin end))))))))

(defn octal
  "A word as 8 octal digits, the lowest first."
  ^String [^long w]
  (let [digits (StringBuilder. 8)]
    (dotimes [j 8] (.append digits (char (+ 48 (bit-and 7 (bit-shift-right w (* 3 j)))))))
    (str digits)))

(defn- writer
  "How a rule, <kind>@<offset>, changes bytes, in place; those that are too short stay."
  [rule]
  (let [[_ kind digits] (or (re-matches #"(le|be|le16|digits)@(-?\d+)" rule)
                            (throw (IllegalArgumentException.
                                    (str "change rule " rule ": expected none or le, be, le16 or digits@<offset>"))))
        offset (long (parse-long digits))
        size (long (case kind "digits" 8 "le16" 2 4))]
    (fn [^bytes element w]
      (let [at (if (neg? offset) (+ offset (alength element)) offset)
            w (long w)]
        (when (<= 0 at (- (alength element) size))
          (let [words (.order (ByteBuffer/wrap element) (if (= kind "be") ByteOrder/BIG_ENDIAN ByteOrder/LITTLE_ENDIAN))]
            (case kind
              "digits" (System/arraycopy (.getBytes ^String (octal w)) 0 element at 8)
              "le16" (.putShort words at (unchecked-short (bit-shift-right w 16)))
              (.putInt words at (unchecked-int w)))))
        element))))

(defn- changer
  "The function that changes an item: nil for the rule none, :missing where there is no change."
  [{:keys [changes]} rule ^objects items]
  (when (not= rule "none")
    (let [item (aget items 0)
          several? (vector? item)
          change (or (get changes rule)
                     (when (bytes? (if several? (first item) item)) (writer rule)))]
      (cond
        (nil? change) :missing
        several? (fn [item x]
                   (vec (map-indexed
                         (fn [i element] (change element (bit-and (+ (long x) (* (long i) 0x9E3779B9)) 0xffffffff)))
                         item)))
        :else change))))

(defn- timed [{:keys [sum]} ^objects items change n seed]
  (let [n (long n)
        seed (long seed)
        count (alength items)
        start (System/nanoTime)
        acc (long (loop [k 0 at 0 x seed acc 0]
                    (if (< k n)
                      (let [x (bit-and (+ (* x 747796405) 2891336453) 0xffffffff)
                            item (aget items at)
                            next (inc at)]
                        (recur (inc k)
                               (if (= next count) 0 next)
                               x
                               (+ acc (.invokePrim ^clojure.lang.IFn$OL sum (if change (change item x) item)))))
                      acc)))]
    [(- (System/nanoTime) start) acc]))

(defn- collections ^long []
  (long (reduce (fn [sum ^GarbageCollectorMXBean bean] (+ (long sum) (.getCollectionCount bean)))
                0 (ManagementFactory/getGarbageCollectorMXBeans))))

(defn- allocated ^long []
  (.getThreadAllocatedBytes ^com.sun.management.ThreadMXBean (ManagementFactory/getThreadMXBean)
                            (.getId (Thread/currentThread))))

(defn- quoted [text]
  (str \" (string/replace (string/replace (str text) #"[\"\\]" "\\\\$0") #"[\x00-\x1f]" " ") \"))

(defn- reply [& parts]
  (println (str "{\"arena\":1," (apply str parts) "}"))
  (flush))

(defn- refuse [kind message]
  (reply "\"err\":\"" kind "\",\"msg\":" (quoted message)))

(defn- write-blobs [path outputs]
  (with-open [file (DataOutputStream. (java.io.BufferedOutputStream. (FileOutputStream. ^String path)))]
    (doseq [parts outputs]
      (let [size (reduce (fn [sum part] (+ (long sum) (alength ^bytes part))) 0 parts)]
        (.writeInt file (Integer/reverseBytes (int size)))
        (doseq [part parts] (.write file ^bytes part))))))

(defn serve
  "Answers the driver until `quit` or the end of input."
  [name version ops]
  (let [current (volatile! nil)
        data (volatile! (byte-array 0))
        items (volatile! (object-array 0))
        change (volatile! nil)
        parsed (fn [] (object-array (map (:parse @current) (fields @data))))
        run (fn [n [seed]] (timed @current @items @change (parse-long n) (parse-long (or seed "0"))))
        answers
        {"describe"
         (fn [] (reply "\"name\":" (quoted name) ",\"version\":" (quoted version)
                       ",\"runtime\":" (quoted (str "Clojure " (clojure-version) ", Java " (System/getProperty "java.version")))
                       ",\"threads\":1,\"ops\":[" (string/join "," (map quoted (keys ops))) "]"))
         "prepare"
         (fn [id path & [rule]]
           (if-let [found (get ops id)]
             (do
               (vreset! current found)
               (vreset! data (Files/readAllBytes (Paths/get path (make-array String 0))))
               (vreset! items (parsed))
               (vreset! change nil)
               (let [found-change (changer found (or rule "none") @items)
                     missing? (= found-change :missing)]
                 (when-not missing? (vreset! change found-change))
                 (reply "\"ok\":true,\"items\":" (alength ^objects @items) ",\"changes\":" (not missing?))))
             (refuse "unsupported" id)))
         "verify"
         (fn [path]
           (write-blobs path (map (:written @current) (parsed)))
           (reply "\"ok\":true"))
         "run"
         (fn [n & seed]
           (let [[ns acc] (run n seed)]
             (reply "\"n\":" n ",\"ns\":" ns ",\"acc\":\"" (format "%016x" acc) "\"")))
         "alloc"
         (fn [n & seed]
           (let [before (allocated) gcs (collections)]
             (run n seed)
             (reply "\"n\":" n ",\"alloc_bytes\":" (- (allocated) before) ",\"gc\":" (- (collections) gcs))))
         "noop"
         (fn [n]
           (let [n (long (parse-long n)) start (System/nanoTime)]
             (loop [k 0] (when (< k n) (recur (inc k))))
             (reply "\"n\":" n ",\"ns\":" (- (System/nanoTime) start))))
         "gc" (fn [] (System/gc) (reply "\"ok\":true"))}]
    (loop []
      (when-let [line (read-line)]
        (let [[command & arguments] (string/split (string/trim line) #"\s+")]
          (when (not= command "quit")
            (try
              (if-let [answer (get answers command)]
                (apply answer arguments)
                (refuse "unsupported" command))
              (catch Throwable error (refuse "rejected" error)))
            (recur)))))))
