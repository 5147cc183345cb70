;;; guile -L … -C target compile.scm SOURCE: compiles a module or program into target/, at -O3. One at a time, modules
;;; before their users.

(use-modules (system base compile))

(let ((source (cadr (command-line))))
  (compile-file source
                #:output-file (string-append "target/" (basename source ".scm") ".go")
                #:optimization-level 3))
