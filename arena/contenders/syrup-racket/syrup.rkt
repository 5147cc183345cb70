#lang racket/base
;; Canonical Syrup: a strict reference codec in plain Racket.
;;
;; Values: booleans; exact integers; flonums (floats of 64 bits); single (of 32 bits); strings; symbols; bytes; lists;
;; dictionary (an association list); set; record. `encode` writes the one canonical form; `decode` takes exactly one whole
;; canonical value and raises exn:fail:syrup, with the byte's position, on anything else.
;; Source: Syrup draft (2023-12), OCapN Model and Notation (2026-07).

(require racket/fixnum racket/flonum racket/symbol)
(provide encode decode
         (struct-out single) (struct-out dictionary) (struct-out set) (struct-out record)
         (struct-out exn:fail:syrup))

(struct single (value) #:authentic)
(struct dictionary (entries) #:authentic)
(struct set (elements) #:authentic)
(struct record (label fields) #:authentic)
(struct exn:fail:syrup exn:fail (at))

(define (fail at reason)
  (raise (exn:fail:syrup (format "byte ~a: ~a" at reason) (current-continuation-marks) at)))

(define max-depth 256)
(define nan64 (bytes #x7f #xf8 0 0 0 0 0 0))
(define nan32 (bytes #x7f #xc0 0 0))
(define (nan? x) (not (= x x)))

(define-syntax-rule (byte c) (char->integer c))

;; The encoder: one growing buffer, of which each result is a copy.

(define buffer (make-bytes 4096))
(define len 0)

(define (reserve! count)
  (when (fx> (fx+ len count) (bytes-length buffer))
    (define larger (make-bytes (max (* 2 (bytes-length buffer)) (+ len count))))
    (bytes-copy! larger 0 buffer 0 len)
    (set! buffer larger)))

(define (put! byte)
  (reserve! 1)
  (bytes-set! buffer len byte)
  (set! len (fx+ len 1)))

(define (put-bytes! data)
  (define count (bytes-length data))
  (reserve! count)
  (bytes-copy! buffer len data)
  (set! len (fx+ len count)))

(define (put-number! number mark)
  (cond
    [(and (fixnum? number) (fx< number 10)) (put! (fx+ 48 number))]
    [(fixnum? number)
     (define digits
       (let count ([rest number] [digits 0])
         (if (fx= rest 0) digits (count (fxquotient rest 10) (fx+ digits 1)))))
     (reserve! digits)
     (let write ([at (fx+ len (fx- digits 1))] [rest number])
       (bytes-set! buffer at (fx+ 48 (fxremainder rest 10)))
       (when (fx>= rest 10) (write (fx- at 1) (fxquotient rest 10))))
     (set! len (fx+ len digits))]
    [else (put-bytes! (string->bytes/latin-1 (number->string number)))])
  (put! mark))

(define (put-text! text mark)
  (define count (string-length text))
  (define start len)
  ;; ASCII, most often: written at once, and again the other way if it is not.
  (put-number! count mark)
  (reserve! count)
  (define base len)
  (let loop ([i 0])
    (cond
      [(fx= i count) (set! len (fx+ len count))]
      [else
       (define code (char->integer (string-ref text i)))
       (cond
         [(fx< code 128)
          (bytes-set! buffer (fx+ base i) code)
          (loop (fx+ i 1))]
         [else
          (define data (string->bytes/utf-8 text))
          (set! len start)
          (put-number! (bytes-length data) mark)
          (put-bytes! data)])])))

(define (put-value! value)
  (cond
    [(string? value) (put-text! value (byte #\"))]
    [(exact-integer? value)
     (if (< value 0)
         (put-number! (- value) (byte #\-))
         (put-number! value (byte #\+)))]
    [(symbol? value) (put-text! (symbol->immutable-string value) (byte #\'))]
    [(or (pair? value) (null? value))
     (put! (byte #\[))
     (for-each put-value! value)
     (put! (byte #\]))]
    [(record? value)
     (put! (byte #\<))
     (put-value! (record-label value))
     (for-each put-value! (record-fields value))
     (put! (byte #\>))]
    [(dictionary? value)
     (put! (byte #\{))
     (put-ascending! (dictionary-entries value)
                     (lambda (entry) (put-value! (car entry)))
                     (lambda (entry) (put-value! (cdr entry))))
     (put! (byte #\}))]
    [(bytes? value)
     (put-number! (bytes-length value) (byte #\:))
     (put-bytes! value)]
    [(boolean? value) (put! (byte (if value #\t #\f)))]
    [(flonum? value)
     (put! (byte #\D))
     (put-bytes! (if (nan? value) nan64 (real->floating-point-bytes value 8 #t)))]
    [(single? value)
     (put! (byte #\F))
     (put-bytes! (if (nan? (single-value value)) nan32 (real->floating-point-bytes (single-value value) 4 #t)))]
    [(set? value)
     (put! (byte #\#))
     (put-ascending! (set-elements value) put-value! void)
     (put! (byte #\$))]
    [else (raise-argument-error 'encode "a Syrup value" value)]))

;; Entries in ascending order of their keys' encodings: checked while they are written, sorted only if need be.
(define (put-ascending! entries put-key! put-rest!)
  (define start len)
  (let loop ([rest entries] [last #f] [last-end 0])
    (unless (null? rest)
      (define at len)
      (put-key! (car rest))
      (cond
        [(and last (not (below? buffer last last-end buffer at len)))
         (set! len start)
         (put-sorted! entries put-key! put-rest!)]
        [else
         (define end len)
         (put-rest! (car rest))
         (loop (cdr rest) at end)]))))

(define (put-sorted! entries put-key! put-rest!)
  (define start len)
  (define keyed
    (for/list ([entry (in-list entries)])
      (put-key! entry)
      (define key (subbytes buffer start len))
      (set! len start)
      (cons key entry)))
  (for/fold ([last #f]) ([entry (in-list (sort keyed bytes<? #:key car))])
    (when (equal? last (car entry)) (raise-arguments-error 'encode "a key is there twice" "key" last))
    (put-bytes! (car entry))
    (put-rest! (cdr entry))
    (car entry)))

;; Is a[from, end) below b[start, stop)?
(define (below? a from end b start stop)
  (cond
    [(fx= start stop) #f]
    [(fx= from end) #t]
    [else
     (define x (bytes-ref a from))
     (define y (bytes-ref b start))
     (if (fx= x y)
         (below? a (fx+ from 1) end b (fx+ start 1) stop)
         (fx< x y))]))

(define (encode value)
  (set! len 0)
  (put-value! value)
  (subbytes buffer 0 len))

;; The decoder: every reader returns its value and the position behind it.

(define (decode data)
  (define-values (value at) (read-value data 0 (bytes-length data) 0))
  (unless (fx= at (bytes-length data)) (fail at "trailing bytes"))
  value)

(define-syntax-rule (byte-at data at end)
  (if (fx< at end) (bytes-ref data at) (fail at "the end")))

(define-syntax-rule (digit? b) (and (fx>= b 48) (fx<= b 57)))

(define (read-value data at end depth)
  (define first (byte-at data at end))
  (if (digit? first)
      (read-number data at end)
      (case (integer->char first)
        [(#\t) (values #t (fx+ at 1))]
        [(#\f) (values #f (fx+ at 1))]
        [(#\[ #\< #\{ #\#)
         (when (fx= depth max-depth) (fail at "nested too deep"))
         (read-container data (fx+ at 1) end (fx+ depth 1) first)]
        [(#\D)
         (define-values (value next) (read-float data (fx+ at 1) end 8 nan64))
         (values value next)]
        [(#\F)
         (define-values (value next) (read-float data (fx+ at 1) end 4 nan32))
         (values (single value) next)]
        [else (fail at "no value begins here")])))

(define (read-float data at end size nan)
  (define next (fx+ at size))
  (when (fx> next end) (fail at "cut off"))
  (define value (floating-point-bytes->real data #t at next))
  (when (and (nan? value) (not (equal? (subbytes data at next) nan)))
    (fail at "not the canonical NaN"))
  (values value next))

(define (read-container data at end depth opening)
  (case (integer->char opening)
    [(#\[) (read-until data at end depth (byte #\]) #f)]
    [(#\<)
     (define-values (label after) (read-value data at end depth))
     (define-values (fields next) (read-until data after end depth (byte #\>) #f))
     (values (record label fields) next)]
    [(#\#)
     (define-values (elements next) (read-until data at end depth (byte #\$) #t))
     (values (set elements) next)]
    [else (read-dictionary data at end depth)]))

(define (read-until data at end depth close ascending?)
  (let loop ([at at] [last at] [last-end at] [elements '()])
    (cond
      [(fx= (byte-at data at end) close) (values (reverse elements) (fx+ at 1))]
      [else
       (define-values (value next) (read-value data at end depth))
       (when (and ascending? (not (below? data last last-end data at next)))
         (fail at "element not above the last"))
       (loop next at next (cons value elements))])))

(define (read-dictionary data at end depth)
  (let loop ([at at] [last at] [last-end at] [entries '()])
    (cond
      [(fx= (byte-at data at end) (byte #\})) (values (dictionary (reverse entries)) (fx+ at 1))]
      [else
       (define-values (key next) (read-value data at end depth))
       (unless (below? data last last-end data at next) (fail at "key not above the last"))
       (define-values (value after) (read-value data next end depth))
       (loop after at next (cons (cons key value) entries))])))

(define (read-number data start end)
  (let loop ([at start] [number 0])
    (define b (byte-at data at end))
    (cond
      ;; Seventeen digits stay a fixnum; the others are read at once, further down.
      [(digit? b)
       (loop (fx+ at 1) (if (fx< (fx- at start) 17) (fx+ (fx* number 10) (fx- b 48)) number))]
      [(and (fx> (fx- at start) 1) (fx= (bytes-ref data start) 48)) (fail start "leading zero")]
      [else
       (define whole
         (if (fx<= (fx- at start) 17) number (string->number (bytes->string/latin-1 data #f start at))))
       (define next (fx+ at 1))
       (case (integer->char b)
         [(#\+) (values whole next)]
         [(#\-)
          (when (eqv? whole 0) (fail start "negative zero"))
          (values (- whole) next)]
         [(#\" #\' #\:)
          (unless (<= whole (fx- end next)) (fail next "cut off"))
          (define after (fx+ next whole))
          (values (case (integer->char b)
                    [(#\") (read-text data next after)]
                    [(#\') (string->symbol (read-text data next after))]
                    [else (subbytes data next after)])
                  after)]
         [else (fail at "no mark behind digits")])])))

(define (read-text data start end)
  (or (with-handlers ([exn:fail:contract? (lambda (_) #f)])
        (bytes->string/utf-8 data #f start end))
      (fail start "not UTF-8")))
