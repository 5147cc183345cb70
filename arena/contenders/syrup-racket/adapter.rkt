#lang racket/base
(require file/sha1 racket/fixnum racket/list "../../kit/racket/arena-kit.rkt" "syrup.rkt")

(define (trees item) (map decode (fields item)))

(define (head value)
  (cond
    [(record? value) (length (record-fields value))]
    [(list? value) (length value)]
    [(dictionary? value) (length (dictionary-entries value))]
    [(set? value) (length (set-elements value))]
    [else 1]))

(struct server (host port enabled))

(define (server->bytes it)
  (encode (dictionary (list (cons "host" (server-host it))
                            (cons "port" (server-port it))
                            (cons "enabled" (server-enabled it))))))

(define (bytes->server data)
  (define entries (dictionary-entries (decode data)))
  (define (field name) (cdr (assoc name entries)))
  (server (field "host") (field "port") (field "enabled")))

(define (servers item)
  (let loop ([at 0] [found '()])
    (if (= at (bytes-length item))
        (reverse found)
        (let* ([host (+ at 4)]
               [port (+ host (integer-bytes->integer item #f #f at host))])
          (loop (+ port 9)
                (cons (server (bytes->string/utf-8 (subbytes item host port))
                              (integer-bytes->integer item #t #f port (+ port 8))
                              (= 1 (bytes-ref item (+ port 8))))
                      found))))))

(define (server-parts it)
  (list (string->bytes/utf-8 (server-host it))
        (bytes-append (integer->integer-bytes (server-port it) 8 #t #f) (bytes (if (server-enabled it) 1 0)))))

(define (unsorted item)
  (dictionary
   (let loop ([flat (first (trees item))])
     (if (null? flat)
         '()
         (cons (cons (first flat) (second flat)) (loop (cddr flat)))))))

;; Messages framed as length:payload, out of pieces.
(define (messages pieces)
  (let loop ([pieces pieces] [left #""] [found '()])
    (let next ([at 0] [found found])
      (define-values (start end) (frame-at left at))
      (cond
        [start (next end (cons (decode (subbytes left start end)) found))]
        [(null? pieces) (reverse found)]
        [else (loop (cdr pieces) (bytes-append (subbytes left at) (car pieces)) found)]))))

;; Where the payload of the frame at `at` begins and ends, if it is there.
(define (frame-at data at)
  (let loop ([i at] [length 0])
    (cond
      [(fx= i (bytes-length data)) (values #f #f)]
      [(fx= (bytes-ref data i) 58)
       (define end (fx+ (fx+ i 1) length))
       (if (fx<= end (bytes-length data)) (values (fx+ i 1) end) (values #f #f))]
      [else (loop (fx+ i 1) (fx+ (fx* 10 length) (fx- (bytes-ref data i) 48)))])))

;; Eight characters of the label from its second on.
(define (set-label it w)
  (define label (record-label it))
  (define text (if (symbol? label) (symbol->string label) label))
  (define changed (string-append (substring text 0 1) (octal w) (substring text 9)))
  (record (if (symbol? label) (string->uninterned-symbol changed) changed) (record-fields it)))

;; The low 16 bits of the port.
(define (set-port it w)
  (server (server-host it)
          (bitwise-ior (bitwise-and (server-port it) (bitwise-not #xffff)) (arithmetic-shift w -16))
          (server-enabled it)))

(define (refuses? data)
  (with-handlers ([exn:fail:syrup? (lambda (_) #t)])
    (decode data)
    #f))

(define labels `(("digits@5" . ,set-label)))
(define encoders (op trees (lambda (list) (map encode list)) #:changes labels))
(define decoders (decoder fields (lambda (items) (map decode items)) head encode))
(define roundtrip (decoder trees (lambda (list) (map (lambda (value) (decode (encode value))) list)) head encode))
(define structs
  (checked servers
           (lambda (list) (map (lambda (it) (bytes->server (server->bytes it))) list))
           server-parts
           server->bytes
           #:changes `(("le16@-9" . ,set-port))))
(define cid (op (lambda (item) (first (trees item))) (lambda (value) (list (sha256-bytes (encode value))))
                #:changes labels))

(serve "syrup-racket" "0.1.0"
       (make-hash
        `(("syrup_encode" . ,encoders)
          ("syrup_decode_owned" . ,decoders)
          ("syrup_roundtrip_tree" . ,roundtrip)
          ("syrup_roundtrip_struct_owned" . ,structs)
          ("syrup_cid" . ,cid)
          ("syrup_encode_unsorted" . ,(op unsorted (lambda (value) (list (encode value)))))
          ("syrup_reencode" . ,(op values (lambda (data) (list (encode (decode data))))))
          ("syrup_stream_owned" . ,(decoder fields messages head encode))
          ("neg:syrup_decode_owned" . ,(neg refuses?)))))
