;;; The arena's line protocol for contenders in Guile 3.0.
;;;
;;; A contender calls (serve name version ops). `ops` is an association list from an op's id to an `op`: `parse` takes an
;;; item's bytes, untimed, and returns the contender's own types; `call`, timed, returns a list of outputs, bytevectors,
;;; each summed by itself. `decoder` is for calls whose results are values: `head` of each is summed, and `verify` writes
;;; its encoding. `checked` writes more for `verify` than is summed. `neg` is for a decoder's negative row.

(define-module (arena-kit)
  #:use-module (rnrs bytevectors)
  #:use-module (ice-9 binary-ports)
  #:use-module (ice-9 rdelim)
  #:use-module (srfi srfi-1)
  #:use-module (srfi srfi-9)
  #:export (op decoder checked neg serve fields slice))

;; run: parsed items, n -> sum. written: a parsed item -> bytevectors to write for `verify`.
(define-record-type <op> (make-op parse run written) op? (parse op-parse) (run op-run) (written op-written))

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

(define-inlinable (repeat items n one)
  (let ((count (vector-length items)))
    (let loop ((k 0) (at 0) (low 0) (high 0))
      (if (= k n)
          (logand (+ low (ash high 32)) mask)
          (one (vector-ref items at) low high
               (lambda (low high)
                 (loop (+ k 1) (if (= (+ at 1) count) 0 (+ at 1))
                       low high)))))))

(define (sum-all outputs low high continue)
  (if (null? outputs)
      (continue low high)
      (word-sum (car outputs) low high
                (lambda (low high) (sum-all (cdr outputs) low high continue)))))

;; A timed operation; `call` returns a list of bytevectors.
(define (op parse call)
  (make-op parse
           (lambda (items n)
             (repeat items n (lambda (item low high continue) (sum-all (call item) low high continue))))
           call))

;; `call` returns a list of results; `parts` gives the outputs of one that are summed, `written` what goes before them.
(define (checked parse call parts written)
  (make-op parse
           (op-run (op parse (lambda (item) (append-map parts (call item)))))
           (lambda (item)
             (append-map (lambda (result) (cons (written result) (parts result))) (call item)))))

;; `call` returns a list of decoded values.
(define (decoder parse call head encode)
  (make-op parse
           (lambda (items n)
             (repeat items n
                     (lambda (item low high continue)
                       (let loop ((values (call item)) (low low))
                         (if (null? values)
                             (continue low high)
                             (loop (cdr values) (+ low (head (car values)))))))))
           (lambda (item) (map encode (call item)))))

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

(define (read-blobs path)
  (let ((data (call-with-input-file path get-bytevector-all #:binary #t)))
    (if (eof-object? data) '() (fields data))))

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
  (let loop ((current #f) (items (vector)))
    (let ((line (read-line)))
      (unless (or (eof-object? line) (string-prefix? "quit" line))
        (let* ((words (string-tokenize line))
               (command (if (null? words) "" (car words)))
               (argument (lambda (k) (list-ref words k))))
          (cond
           ((string=? command "prepare")
            (let ((entry (assoc (argument 1) ops)))
              (if (not entry)
                  (begin (refuse "unsupported" (argument 1)) (loop current items))
                  (let ((parsed (guarded (lambda () (map (op-parse (cdr entry)) (read-blobs (argument 2)))))))
                    (when parsed
                      (reply "\"ok\":true,\"items\":" (number->string (length parsed))))
                    (loop (cdr entry) (list->vector (or parsed '())))))))
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
                      items))
                   #:binary #t)
                 (reply "\"ok\":true"))
                ((string=? command "run")
                 (let* ((n (string->number (argument 1)))
                        (start (now))
                        (sum ((op-run current) items n))
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
            (loop current items))))))))

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
