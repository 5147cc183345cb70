(ns adapter
  (:require [arena-kit :as kit]
            [syrup :refer [decode encode]])
  (:import (java.nio ByteBuffer ByteOrder)
           (java.nio.charset StandardCharsets)
           (java.security MessageDigest)
           (java.util Arrays)
           (syrup Sorted Tagged)))

(set! *warn-on-reflection* true)

(defn trees [item] (mapv decode (kit/fields item)))

(defn head [value]
  (cond
    (instance? Tagged value) (count (:fields value))
    (instance? Sorted value) (count (:elements value))
    (or (vector? value) (map? value)) (count value)
    :else 1))

(defn little ^ByteBuffer [^bytes data] (.order (ByteBuffer/wrap data) ByteOrder/LITTLE_ENDIAN))

(defrecord Server [host port enabled])
(defn server->bytes [{:keys [host port enabled]}] (encode {"host" host "port" port "enabled" enabled}))
(defn bytes->server [data]
  (let [fields (decode data)]
    (->Server (get fields "host") (get fields "port") (get fields "enabled"))))

(defn servers [^bytes item]
  (let [words (little item)]
    (loop [at 0 found []]
      (if (= at (alength item))
        found
        (let [host (+ at 4) port (+ host (.getInt words at))]
          (recur (+ port 9)
                 (conj found (->Server (String. item host (- port host) StandardCharsets/UTF_8)
                                       (.getLong words port)
                                       (= 1 (aget item (+ port 8)))))))))))

(defn server-parts [{:keys [^String host port enabled]}]
  (let [numbers (byte-array 9)]
    (.putLong (little numbers) 0 port)
    (aset numbers 8 (byte (if enabled 1 0)))
    [(.getBytes host StandardCharsets/UTF_8) numbers]))

(defn frame
  "Where the payload of the frame at `at` begins and ends, if it is there."
  [^bytes data ^long at]
  (loop [i at length 0]
    (when (< i (alength data))
      (let [b (long (aget data i))]
        (if (= b 58)
          (let [end (+ i 1 length)]
            (when (<= end (alength data)) [(inc i) end]))
          (recur (inc i) (+ (* 10 length) (- b 48))))))))

(defn messages
  "Messages framed as length:payload, out of pieces."
  [pieces]
  (loop [pieces (seq pieces) left (byte-array 0) found (transient [])]
    (let [[^long at found]
          (loop [at 0 found found]
            (if-let [[start end] (frame left at)]
              (recur (long end) (conj! found (decode (Arrays/copyOfRange ^bytes left (int start) (int end)))))
              [at found]))]
      (if pieces
        (let [^bytes piece (first pieces)
              rest (- (alength ^bytes left) at)
              joined (byte-array (+ rest (alength piece)))]
          (System/arraycopy left at joined 0 rest)
          (System/arraycopy piece 0 joined rest (alength piece))
          (recur (next pieces) joined found))
        (persistent! found)))))

(defn refuses? [data]
  (try (decode data)
       false
       (catch clojure.lang.ExceptionInfo error (some? (:at (ex-data error))))))

(defn set-label
  "Eight characters of the label from its second on."
  [{:keys [label] :as record} w]
  (let [text (if (symbol? label) (name label) label)
        changed (str (subs text 0 1) (kit/octal w) (subs text 9))]
    (assoc record :label (if (symbol? label) (symbol nil changed) changed))))

(defn set-port
  "The low 16 bits of the port."
  [server w]
  (update server :port #(bit-or (bit-and-not (long %) 0xffff) (bit-shift-right (long w) 16))))

(def labels {"digits@5" set-label})
(def encoders (assoc (kit/op trees (fn [values] (mapv encode values))) :changes labels))
(def decoders (kit/decoder kit/fields (fn [items] (mapv decode items)) head encode))
(def roundtrip (kit/decoder trees (fn [values] (mapv #(decode (encode %)) values)) head encode))
(def structs
  (assoc (kit/checked servers (fn [list] (mapv #(bytes->server (server->bytes %)) list)) server-parts server->bytes)
         :changes {"le16@-9" set-port}))
(def cid
  (assoc (kit/op (comp first trees) (fn [value] [(.digest (MessageDigest/getInstance "SHA-256") (encode value))]))
         :changes labels))

(kit/serve
 "syrup-clojure" (clojure-version)
 {"syrup_encode" encoders
  "syrup_decode_owned" decoders
  "syrup_roundtrip_tree" roundtrip
  "syrup_roundtrip_struct_owned" structs
  "syrup_cid" cid
  "syrup_encode_unsorted" (kit/op (fn [item] (apply hash-map (first (trees item)))) (fn [value] [(encode value)]))
  "syrup_reencode" (kit/op identity (fn [data] [(encode (decode data))]))
  "syrup_stream_owned" (kit/decoder kit/fields messages head encode)
  "neg:syrup_decode_owned" (kit/neg refuses?)})
