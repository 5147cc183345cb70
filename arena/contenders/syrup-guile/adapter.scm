(use-modules (arena-kit) (syrup)
             (rnrs bytevectors)
             (srfi srfi-1)
             (srfi srfi-9))

(define (trees item) (map decode (fields item)))

(define (head value)
  (cond
   ((syrup-record? value) (length (syrup-record-fields value)))
   ((or (pair? value) (null? value)) (length value))
   ((dictionary? value) (length (dictionary-entries value)))
   ((set? value) (length (set-elements value)))
   (else 1)))

(define-record-type <server> (make-server host port enabled) server?
  (host server-host) (port server-port) (enabled server-enabled))

(define (server->bytes server)
  (encode (make-dictionary `(("host" . ,(server-host server))
                             ("port" . ,(server-port server))
                             ("enabled" . ,(server-enabled server))))))

(define (bytes->server bytes)
  (let ((entries (dictionary-entries (decode bytes))))
    (make-server (assoc-ref entries "host") (assoc-ref entries "port") (assoc-ref entries "enabled"))))

(define (servers item)
  (let loop ((at 0) (found '()))
    (if (= at (bytevector-length item))
        (reverse! found)
        (let* ((host (+ at 4))
               (port (+ host (bytevector-u32-ref item at (endianness little)))))
          (loop (+ port 9)
                (cons (make-server (utf8->string (slice item host port))
                                   (bytevector-s64-ref item port (endianness little))
                                   (= 1 (bytevector-u8-ref item (+ port 8))))
                      found))))))

(define (server-parts server)
  (let ((rest (make-bytevector 9)))
    (bytevector-s64-set! rest 0 (server-port server) (endianness little))
    (bytevector-u8-set! rest 8 (if (server-enabled server) 1 0))
    (list (string->utf8 (server-host server)) rest)))

(define (unsorted item)
  (let loop ((flat (car (trees item))) (entries '()))
    (if (null? flat)
        (make-dictionary (reverse! entries))
        (loop (cddr flat) (acons (car flat) (cadr flat) entries)))))

;; Messages framed as length:payload, out of pieces.
(define (messages pieces)
  (let loop ((pieces pieces) (rest (make-bytevector 0)) (found '()))
    (let next ((at 0) (found found))
      (let ((frame (frame-at rest at)))
        (cond
         (frame (next (cdr frame) (cons (decode (slice rest (car frame) (cdr frame))) found)))
         ((null? pieces) (reverse! found))
         (else (loop (cdr pieces) (join rest at (car pieces)) found)))))))

;; Where the payload of the frame at `at` begins and ends, if it is there.
(define (frame-at bytes at)
  (let loop ((i at) (length 0))
    (and (< i (bytevector-length bytes))
         (let ((byte (bytevector-u8-ref bytes i)))
           (if (= byte 58)
               (let ((end (+ i 1 length)))
                 (and (<= end (bytevector-length bytes)) (cons (+ i 1) end)))
               (loop (+ i 1) (+ (* 10 length) (- byte 48))))))))

(define (join bytes at piece)
  (let* ((left (- (bytevector-length bytes) at))
         (joined (make-bytevector (+ left (bytevector-length piece)))))
    (bytevector-copy! bytes at joined 0 left)
    (bytevector-copy! piece 0 joined left (bytevector-length piece))
    joined))

(define (refuses? bytes)
  (with-exception-handler
   (lambda (error) (syrup-error? error))
   (lambda () (decode bytes) #f)
   #:unwind? #t))

;; Eight characters of the label from its second on.
(define (set-label record w)
  (let* ((label (syrup-record-label record))
         (text (if (symbol? label) (symbol->string label) label))
         (changed (string-append (substring text 0 1) (octal w) (substring text 9))))
    (make-syrup-record (if (symbol? label) (make-symbol changed) changed) (syrup-record-fields record))))

;; The low 16 bits of the port.
(define (set-port server w)
  (make-server (server-host server)
               (logior (logand (server-port server) (lognot #xffff)) (ash w -16))
               (server-enabled server)))

(define encoders (op trees (lambda (values) (map encode values)) `(("digits@5" . ,set-label))))
(define decoders (decoder fields (lambda (items) (map decode items)) head encode))
(define roundtrip (decoder trees (lambda (values) (map (lambda (value) (decode (encode value))) values)) head encode))
(define structs
  (checked servers
           (lambda (list) (map (lambda (server) (bytes->server (server->bytes server))) list))
           server-parts server->bytes
           `(("le16@-9" . ,set-port))))

(serve "syrup-guile" "0.1.0"
       `(("syrup_encode" . ,encoders)
         ("syrup_decode_owned" . ,decoders)
         ("syrup_roundtrip_tree" . ,roundtrip)
         ("syrup_roundtrip_struct_owned" . ,structs)
         ("syrup_encode_unsorted" . ,(op unsorted (lambda (value) (list (encode value)))))
         ("syrup_reencode" . ,(op (lambda (item) item) (lambda (bytes) (list (encode (decode bytes))))))
         ("syrup_stream_owned" . ,(decoder fields messages head encode))
         ("neg:syrup_decode_owned" . ,(neg refuses?))))
