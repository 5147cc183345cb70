(ns arena-kit
  "The arena's line protocol for contenders in Clojure.

  A contender calls (serve name version ops). `ops` maps an op's id to an op: `parse` takes an item's bytes, untimed, and
  returns the contender's own types; `call`, timed, returns a collection of outputs, byte arrays, each summed by itself.
  `decoder` is for calls whose results are values: `head` of each is summed, and `verify` writes its encoding. `checked`
  writes more for `verify` than is summed. `neg` is for a decoder's negative row."
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

(defn- timed [{:keys [sum]} ^objects items ^long n]
  (let [count (alength items)
        start (System/nanoTime)
        acc (long (loop [k 0 at 0 acc 0]
                    (if (< k n)
                      (recur (inc k)
                             (let [next (inc at)] (if (= next count) 0 next))
                             (+ acc (.invokePrim ^clojure.lang.IFn$OL sum (aget items at))))
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
        items (volatile! (object-array 0))
        answers
        {"describe"
         (fn [] (reply "\"name\":" (quoted name) ",\"version\":" (quoted version)
                       ",\"runtime\":" (quoted (str "Clojure " (clojure-version) ", Java " (System/getProperty "java.version")))
                       ",\"threads\":1,\"ops\":[" (string/join "," (map quoted (keys ops))) "]"))
         "prepare"
         (fn [id path]
           (if-let [found (get ops id)]
             (let [blobs (fields (Files/readAllBytes (Paths/get path (make-array String 0))))]
               (vreset! current found)
               (vreset! items (object-array (map (:parse found) blobs)))
               (reply "\"ok\":true,\"items\":" (count blobs)))
             (refuse "unsupported" id)))
         "verify"
         (fn [path]
           (write-blobs path (map (:written @current) @items))
           (reply "\"ok\":true"))
         "run"
         (fn [n]
           (let [[ns acc] (timed @current @items (parse-long n))]
             (reply "\"n\":" n ",\"ns\":" ns ",\"acc\":\"" (format "%016x" acc) "\"")))
         "alloc"
         (fn [n]
           (let [before (allocated) gcs (collections)]
             (timed @current @items (parse-long n))
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
