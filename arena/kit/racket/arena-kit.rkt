#lang racket/base
;; The arena's line protocol for contenders in Racket.
;;
;; A contender calls (serve name version ops). `ops` is a hash from an op's id to an op: `parse` takes an item's bytes,
;; untimed, and returns the contender's own types; `call`, timed, returns a list of outputs, byte strings, each summed by
;; itself. `decoder` is for calls whose results are values: `head` of each is summed, and `verify` writes its encoding.
;; `checked` writes more for `verify` than is summed. `neg` is for a decoder's negative row.
;;
;; Between calls the kit changes the items by the rule of the row: byte strings, or lists of them, by itself, others by
;; `#:changes`, an association list from rules to functions of an element and a word that return the changed element. The
;; elements of an item that is a list are its members.

(require racket/fixnum racket/list racket/string racket/file)
(provide (rename-out [make-op op]) decoder checked neg serve fields octal)

;; run: a parsed item, low and high halves of the sum -> both halves. written: a parsed item -> byte strings.
(struct op (parse run written changes) #:authentic)

;; The sum of little-endian words, kept in halves of 32 bits so that all arithmetic in the clock is on fixnums.
(define-syntax-rule (u32 data at)
  (fxior (bytes-ref data at)
         (fxlshift (bytes-ref data (fx+ at 1)) 8)
         (fxlshift (bytes-ref data (fx+ at 2)) 16)
         (fxlshift (bytes-ref data (fx+ at 3)) 24)))

(define (add data low high)
  (define size (bytes-length data))
  (define whole (fxand size -8))
  (let loop ([at 0] [low low] [high high])
    (if (fx< at whole)
        (loop (fx+ at 8) (fx+ low (u32 data at)) (fx+ high (u32 data (fx+ at 4))))
        (let tail ([at at] [low low] [high high])
          (define k (fx- at whole))
          (cond
            [(fx= at size) (values low high)]
            [(fx< k 4) (tail (fx+ at 1) (fx+ low (fxlshift (bytes-ref data at) (fx* 8 k))) high)]
            [else (tail (fx+ at 1) low (fx+ high (fxlshift (bytes-ref data at) (fx* 8 (fx- k 4)))))])))))

(define (add-all outputs low high)
  (if (null? outputs)
      (values low high)
      (let-values ([(low high) (add (car outputs) low high)])
        (add-all (cdr outputs) low high))))

;; A timed operation; `call` returns a list of byte strings.
(define (make-op parse call #:changes [changes '()])
  (op parse (lambda (item low high) (add-all (call item) low high)) call changes))

;; `call` returns a list of results; `parts` gives the outputs of one that are summed, `written` what goes before them.
(define (checked parse call parts written #:changes [changes '()])
  (op parse
      (lambda (item low high) (add-all (append-map parts (call item)) low high))
      (lambda (item) (append-map (lambda (result) (cons (written result) (parts result))) (call item)))
      changes))

;; `call` returns a list of decoded values.
(define (decoder parse call head encode)
  (op parse
      (lambda (item low high)
        (let loop ([values-left (call item)] [low low])
          (if (null? values-left)
              (values low high)
              (loop (cdr values-left) (fx+ low (head (car values-left)))))))
      (lambda (item) (map encode (call item)))
      '()))

;; `rejects?` says whether the library refuses an input.
(define (neg rejects?)
  (make-op values (lambda (item) (list (bytes (if (rejects? item) 1 0))))))

;; Length-prefixed fields to the end.
(define (fields data)
  (let loop ([at 0] [found '()])
    (if (= at (bytes-length data))
        (reverse found)
        (let ([end (+ at 4 (integer-bytes->integer data #f #f at (+ at 4)))])
          (loop end (cons (subbytes data (+ at 4) end) found))))))

(define (now) (inexact->exact (round (* 1e6 (current-inexact-monotonic-milliseconds)))))

;; The word after x: fixnums have 61 bits.
(define (next x)
  (define high (fx* (fxrshift x 16) 747796405))
  (fxand (fx+ (fx+ (fx* (fxand x #xffff) 747796405) (fxlshift (fxand high #xffff) 16)) 2891336453) #xffffffff))

;; The word that element i gets where the first gets x.
(define (word x i) (fxand (fx+ x (fx* i #x9E3779B9)) #xffffffff))

;; A word as 8 octal digits, the lowest first.
(define (octal w)
  (define digits (make-string 8))
  (for ([j (in-range 8)])
    (string-set! digits j (integer->char (fx+ 48 (fxand 7 (fxrshift w (fx* 3 j)))))))
  digits)

;; How a rule, <kind>@<offset>, changes bytes, in place; those that are too short stay.
(define (writer rule)
  (define parts (regexp-match #px"^(le|be|le16|digits)@(-?[0-9]+)$" rule))
  (unless parts (error (format "change rule ~a: expected none or le, be, le16 or digits@<offset>" rule)))
  (define offset (string->number (third parts)))
  (define kind (string->symbol (second parts)))
  (define size (case kind [(digits) 8] [(le16) 2] [else 4]))
  (lambda (element w)
    (define at (if (< offset 0) (+ offset (bytes-length element)) offset))
    (when (<= 0 at (- (bytes-length element) size))
      (case kind
        [(le) (integer->integer-bytes w 4 #f #f element at)]
        [(be) (integer->integer-bytes w 4 #f #t element at)]
        [(le16) (integer->integer-bytes (fxrshift w 16) 2 #f #f element at)]
        [else (bytes-copy! element at (string->bytes/latin-1 (octal w)))]))
    element))

;; The function that changes an item: #f for the rule none, 'missing where there is no change.
(define (changer it rule items)
  (cond
    [(equal? rule "none") #f]
    [else
     (define several? (list? (vector-ref items 0)))
     (define element (if several? (first (vector-ref items 0)) (vector-ref items 0)))
     (define change
       (cond
         [(assoc rule (op-changes it)) => cdr]
         [(bytes? element) (writer rule)]
         [else #f]))
     (cond
       [(not change) 'missing]
       [several? (lambda (item x) (for/list ([element (in-list item)] [i (in-naturals)]) (change element (word x i))))]
       [else change])]))

(define (timed run items change n seed)
  (define count (vector-length items))
  (define start (now))
  (let loop ([k 0] [at 0] [x (next seed)] [low 0] [high 0])
    (if (fx= k n)
        (let ([ns (- (now) start)])
          (values ns (bitwise-and (+ low (arithmetic-shift high 32)) (sub1 (expt 2 64)))))
        (let*-values ([(item) (vector-ref items at)]
                      [(low high) (run (if change (change item x) item) low high)])
          (loop (fx+ k 1) (if (fx= (fx+ at 1) count) 0 (fx+ at 1)) (next x) low high)))))

(define (quoted text)
  (string-append "\"" (regexp-replace* #rx"[\u0001-\u001f]" (regexp-replace* #rx"[\"\\\\]" text "\\\\&") " ") "\""))

(define (reply . parts)
  (display (string-append* "{\"arena\":1," (append parts '("}\n"))))
  (flush-output))

(define (refuse kind message) (reply "\"err\":\"" kind "\",\"msg\":" (quoted message)))

(define (write-blobs path outputs)
  (call-with-output-file path #:exists 'truncate
    (lambda (port)
      (for ([parts outputs])
        (write-bytes (integer->integer-bytes (apply + (map bytes-length parts)) 4 #f #f) port)
        (for ([part parts]) (write-bytes part port))))))

;; Answers the driver until `quit` or the end of input.
(define (serve name release ops)
  (define current #f)
  (define data #"")
  (define items (vector))
  (define change #f)
  (define (parsed) (list->vector (map (op-parse current) (fields data))))
  (define (answer command arguments)
    (case command
      [("describe")
       (reply "\"name\":" (quoted name) ",\"version\":" (quoted release)
              ",\"runtime\":" (quoted (format "Racket ~a [~a]" (version) (system-type 'vm)))
              ",\"threads\":1,\"ops\":[" (string-join (map quoted (hash-keys ops)) ",") "]")]
      [("prepare")
       (define found (hash-ref ops (first arguments) #f))
       (cond
         [found
          (set! current found)
          (set! data (file->bytes (second arguments)))
          (set! items (parsed))
          (define found-change (changer current (if (> (length arguments) 2) (third arguments) "none") items))
          (set! change (and (procedure? found-change) found-change))
          (reply "\"ok\":true,\"items\":" (number->string (vector-length items))
                 ",\"changes\":" (if (eq? found-change 'missing) "false" "true"))]
         [else (refuse "unsupported" (first arguments))])]
      [("verify")
       (write-blobs (first arguments) (for/list ([item (in-vector (parsed))]) ((op-written current) item)))
       (reply "\"ok\":true")]
      [("run")
       (define n (string->number (first arguments)))
       (define seed (if (> (length arguments) 1) (string->number (second arguments)) 0))
       (define-values (ns sum) (timed (op-run current) items change n seed))
       (reply "\"n\":" (number->string n) ",\"ns\":" (number->string ns)
              ",\"acc\":\"" (pad (number->string sum 16)) "\"")]
      [("noop")
       (define n (string->number (first arguments)))
       (define start (now))
       (let loop ([k 0]) (when (fx< k n) (loop (fx+ k 1))))
       (reply "\"n\":" (number->string n) ",\"ns\":" (number->string (- (now) start)))]
      [("gc") (collect-garbage) (reply "\"ok\":true")]
      [else (refuse "unsupported" command)]))
  (let loop ()
    (define line (read-line))
    (unless (or (eof-object? line) (equal? (string-trim line) "quit"))
      (define words (string-split line))
      (unless (null? words)
        (with-handlers ([exn:fail? (lambda (e) (refuse "rejected" (exn-message e)))])
          (answer (first words) (rest words))))
      (loop))))

(define (pad text) (string-append (make-string (- 16 (string-length text)) #\0) text))
