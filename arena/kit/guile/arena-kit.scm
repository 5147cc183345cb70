;;; The arena's line protocol for contenders in Guile 3.0.
;;;
;;; A contender calls (serve name version ops). `ops` is an association list from an op's id to an `op`: `parse` takes an
;;; item's bytes, untimed, and returns the contender's own types; `call`, timed, returns a list of outputs, bytevectors,
;;; each summed by itself. `decoder` is for calls whose results are values: `head` of each is summed, and `verify` writes
;;; its encoding. `checked` writes more for `verify` than is summed. `neg` is for a decoder's negative row.
;;;
;;; Between calls the kit changes the items by the rule of the row: bytevectors, or lists of them, by itself, others by
;;; `changes`, an association list from rules to functions of an element and a word that return the changed element. The
;;; elements of an item that is a list are its members.

(define-module (arena-kit)
  #:use-module (rnrs bytevectors)
  #:use-module (ice-9 binary-ports)
  #:use-module (ice-9 rdelim)
  #:use-module (srfi srfi-1)
  #:use-module (srfi srfi-9)
  #:export (op decoder checked neg serve fields slice octal))

;; run: parsed items, a change or #f, n, seed -> sum. written: a parsed item -> bytevectors to write for `verify`.
(define-record-type <op> (make-op parse run written changes) op?
  (parse op-parse) (run op-run) (written op-written) (changes op-changes))

(define mask (- (expt 2 64) 1))
(define low-mask (- (expt 2 32) 1))

;; The sum is kept in halves of 32 bits, so that all arithmetic in the clock is on fixnums.
(define-inlinable (word-sum bytes low high continue)
  (let* ((size (bytevector-length bytes))
         (whole (logand size -8)))
    (let loop ((at 0) (low low) (high high))
      (if (< at whole)
          (loop (+ at 8)
                (+ low (bytevector-u32-ref bytes at (endianness little)))
                (+ high (bytevector-u32-ref bytes (+ at 4) (endianness little))))
          (let tail ((at at) (low low) (high high))
            (cond
             ((= at size) (continue low high))
             ((< (- at whole) 4)
              (tail (+ at 1) (+ low (ash (bytevector-u8-ref bytes at) (* 8 (- at whole)))) high))
             (else
              (tail (+ at 1) low (+ high (ash (bytevector-u8-ref bytes at) (* 8 (- at whole 4))))))))))))

;; The word after x: fixnums have 62 bits.
(define-inlinable (next x)
  (let ((high (* (ash x -16) 747796405)))
    (logand (+ (* (logand x #xffff) 747796405) (ash (logand high #xffff) 16) 2891336453) low-mask)))

;; The word that element i gets where the first gets x.
(define (word x i) (logand (+ x (* i #x9E3779B9)) low-mask))

;; A word as 8 octal digits, the lowest first.
(define (octal w)
  (let ((digits (make-string 8)))
    (let loop ((j 0))
      (if (= j 8)
          digits
          (begin
            (string-set! digits j (integer->char (+ 48 (logand 7 (ash w (* -3 j))))))
            (loop (+ j 1)))))))

;; How a rule, <kind>@<offset>, changes bytes, in place; those that are too short stay.
(define (writer rule)
  (let* ((cut (or (string-index rule #\@) (error "change rule: expected none or <kind>@<offset>, found" rule)))
         (kind (string->symbol (substring rule 0 cut)))
         (offset (string->number (substring rule (+ cut 1))))
         (size (case kind ((le be) 4) ((le16) 2) ((digits) 8)
                 (else (error "change rule: expected le, be, le16 or digits, found" rule)))))
    (lambda (element w)
      (let ((at (if (< offset 0) (+ offset (bytevector-length element)) offset)))
        (when (<= 0 at (- (bytevector-length element) size))
          (case kind
            ((le) (bytevector-u32-set! element at w (endianness little)))
            ((be) (bytevector-u32-set! element at w (endianness big)))
            ((le16) (bytevector-u16-set! element at (ash w -16) (endianness little)))
            (else (bytevector-copy! (string->utf8 (octal w)) 0 element at 8))))
        element))))

;; The function that changes an item: #f for the rule none, 'missing where there is no change.
(define (changer op rule items)
  (if (string=? rule "none")
      #f
      (let* ((several? (list? (car items)))
             (element (if several? (caar items) (car items)))
             (change (cond ((assoc-ref (op-changes op) rule))
                           ((bytevector? element) (writer rule))
                           (else #f))))
        (cond
         ((not change) 'missing)
         (several?
          (lambda (item x)
            (let loop ((left item) (i 0) (changed '()))
              (if (null? left)
                  (reverse! changed)
                  (loop (cdr left) (+ i 1) (cons (change (car left) (word x i)) changed))))))
         (else change)))))

(define-inlinable (repeat items change n seed one)
  (let ((count (vector-length items)))
    (let loop ((k 0) (at 0) (x (next seed)) (low 0) (high 0))
      (if (= k n)
          (logand (+ low (ash high 32)) mask)
          (one (let ((item (vector-ref items at))) (if change (change item x) item)) low high
               (lambda (low high)
                 (loop (+ k 1) (if (= (+ at 1) count) 0 (+ at 1)) (next x)
                       low high)))))))

(define (sum-all outputs low high continue)
  (if (null? outputs)
      (continue low high)
      (word-sum (car outputs) low high
                (lambda (low high) (sum-all (cdr outputs) low high continue)))))

;; A timed operation; `call` returns a list of bytevectors.
(define* (op parse call #:optional (changes '()))
  (make-op parse
           (lambda (items change n seed)
             (repeat items change n seed (lambda (item low high continue) (sum-all (call item) low high continue))))
           call
           changes))

;; `call` returns a list of results; `parts` gives the outputs of one that are summed, `written` what goes before them.
(define* (checked parse call parts written #:optional (changes '()))
  (make-op parse
           (op-run (op parse (lambda (item) (append-map parts (call item)))))
           (lambda (item)
             (append-map (lambda (result) (cons (written result) (parts result))) (call item)))
           changes))

;; `call` returns a list of decoded values.
(define (decoder parse call head encode)
  (make-op parse
           (lambda (items change n seed)
             (repeat items change n seed
                     (lambda (item low high continue)
                       (let loop ((values (call item)) (low low))
                         (if (null? values)
                             (continue low high)
                             (loop (cdr values) (+ low (head (car values)))))))))
           (lambda (item) (map encode (call item)))
           '()))

;; `rejects?` says whether the library refuses an input.
(define (neg rejects?)
  (op (lambda (item) item)
      (lambda (item) (list (bytevector (if (rejects? item) 1 0))))))

(define (bytevector . bytes) (u8-list->bytevector bytes))

(define (slice bytes start end)
  (let ((copy (make-bytevector (- end start))))
    (bytevector-copy! bytes start copy 0 (- end start))
    copy))

;; Length-prefixed fields to the end.
(define (fields bytes)
  (let loop ((at 0) (found '()))
    (if (= at (bytevector-length bytes))
        (reverse! found)
        (let ((end (+ at 4 (bytevector-u32-ref bytes at (endianness little)))))
          (loop end (cons (slice bytes (+ at 4) end) found))))))

(define (read-file path)
  (let ((data (call-with-input-file path get-bytevector-all #:binary #t)))
    (if (eof-object? data) (make-bytevector 0) data)))

(define (now)
  (let ((time (get-internal-real-time)))
    (* time (quotient 1000000000 internal-time-units-per-second))))

(define (quoted text)
  (string-append
   "\""
   (string-concatenate
    (map (lambda (c)
           (cond ((memv c '(#\" #\\)) (string #\\ c))
                 ((char<? c #\space) " ")
                 (else (string c))))
         (string->list text)))
   "\""))

(define (reply . parts)
  (display (string-concatenate (append '("{\"arena\":1,") parts '("}\n"))))
  (force-output))

(define (refuse kind message)
  (reply "\"err\":\"" kind "\",\"msg\":" (quoted message)))

(define (describe name version ops)
  (reply "\"name\":" (quoted name) ",\"version\":" (quoted version)
         ",\"runtime\":" (quoted (string-append "Guile " ((@ (guile) version))))
         ",\"threads\":1,\"ops\":[" (string-join (map (lambda (entry) (quoted (car entry))) ops) ",") "]"))

(define (serve name version ops)
  (let loop ((current #f) (data #f) (items (vector)) (change #f))
    (let ((line (read-line)))
      (unless (or (eof-object? line) (string-prefix? "quit" line))
        (let* ((words (string-tokenize line))
               (command (if (null? words) "" (car words)))
               (argument (lambda* (k #:optional absent)
                           (if (and absent (<= (length words) k)) absent (list-ref words k)))))
          (cond
           ((string=? command "prepare")
            (let ((entry (assoc (argument 1) ops)))
              (if (not entry)
                  (begin (refuse "unsupported" (argument 1)) (loop current data items change))
                  (let ((found
                         (guarded
                          (lambda ()
                            (let* ((data (read-file (argument 2)))
                                   (parsed (map (op-parse (cdr entry)) (fields data)))
                                   (change (changer (cdr entry) (argument 3 "none") parsed)))
                              (reply "\"ok\":true,\"items\":" (number->string (length parsed))
                                     ",\"changes\":" (if (eq? change 'missing) "false" "true"))
                              (list data (list->vector parsed) (and (procedure? change) change)))))))
                    (apply loop (cdr entry) (or found (list #f (vector) #f)))))))
           (else
            (guarded
             (lambda ()
               (cond
                ((string=? command "describe") (describe name version ops))
                ((string=? command "verify")
                 (call-with-output-file (argument 1)
                   (lambda (port)
                     (vector-for-each
                      (lambda (item)
                        (let* ((outputs ((op-written current) item))
                               (head (make-bytevector 4)))
                          (bytevector-u32-set! head 0 (fold + 0 (map bytevector-length outputs)) (endianness little))
                          (put-bytevector port head)
                          (for-each (lambda (output) (put-bytevector port output)) outputs)))
                      (list->vector (map (op-parse current) (fields data)))))
                   #:binary #t)
                 (reply "\"ok\":true"))
                ((string=? command "run")
                 (let* ((n (string->number (argument 1)))
                        (seed (string->number (argument 2 "0")))
                        (start (now))
                        (sum ((op-run current) items change n seed))
                        (ns (- (now) start)))
                   (reply "\"n\":" (number->string n) ",\"ns\":" (number->string ns) ",\"acc\":\""
                          (string-pad (number->string sum 16) 16 #\0) "\"")))
                ((string=? command "noop")
                 (let* ((n (string->number (argument 1)))
                        (start (now)))
                   (let turn ((k 0)) (when (< k n) (turn (+ k 1))))
                   (reply "\"n\":" (number->string n) ",\"ns\":" (number->string (- (now) start)))))
                ((string=? command "gc") (gc) (reply "\"ok\":true"))
                (else (refuse "unsupported" command)))))
            (loop current data items change))))))))

(define (vector-for-each procedure items)
  (let loop ((at 0))
    (when (< at (vector-length items))
      (procedure (vector-ref items at))
      (loop (+ at 1)))))

;; The thunk's value, or #f after a reply about what went wrong.
(define (guarded thunk)
  (with-exception-handler
   (lambda (error)
     (refuse "rejected" (call-with-output-string (lambda (port) (write error port))))
     #f)
   thunk
   #:unwind? #t))
