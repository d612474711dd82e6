;; Escapes UTF-8 for the inside of a JSON string, sixteen bytes at a time. json-escape.ts carries the compiled form:
;;   wat2wasm json-escape.wat -o - | base64 -w 0        (wabt 1.0.39)
;; Loads and stores reach up to 15 bytes behind what they are for; the memory has that much room between its parts.
(module
  (import "host" "memory" (memory 1))

  ;; 0 to 127: the letter of a two-character escape, zero for none. 128: the digits of the others.
  (data (i32.const 8) "btn\00fr")
  (data (i32.const 34) "\22")
  (data (i32.const 92) "\5c")
  (data (i32.const 128) "0123456789abcdef")

  ;; Writes [at, end) escaped to $out; answers where the output ends.
  (func (export "escape") (param $at i32) (param $end i32) (param $out i32) (result i32)
    (local $block v128) (local $mask i32) (local $clean i32) (local $byte i32) (local $letter i32)
    (block $done
      (loop $blocks
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $block (v128.load align=1 (local.get $at)))
        (v128.store align=1 (local.get $out) (local.get $block))
        (local.set $mask
          (i8x16.bitmask
            (v128.or
              (i8x16.lt_u (local.get $block) (i8x16.splat (i32.const 32)))
              (v128.or
                (i8x16.eq (local.get $block) (i8x16.splat (i32.const 34)))
                (i8x16.eq (local.get $block) (i8x16.splat (i32.const 92)))))))
        ;; Bit 16 stands in when all are clean.
        (local.set $clean (i32.ctz (i32.or (local.get $mask) (i32.const 65536))))
        (if (i32.ge_u (i32.add (local.get $at) (local.get $clean)) (local.get $end))
          (then
            (local.set $out (i32.add (local.get $out) (i32.sub (local.get $end) (local.get $at))))
            (br $done)))
        (local.set $at (i32.add (local.get $at) (local.get $clean)))
        (local.set $out (i32.add (local.get $out) (local.get $clean)))
        (br_if $blocks (i32.eq (local.get $clean) (i32.const 16)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (i32.store8 (local.get $out) (i32.const 92))
        (local.set $letter (i32.load8_u (local.get $byte)))
        (if (local.get $letter)
          (then
            (i32.store8 offset=1 (local.get $out) (local.get $letter))
            (local.set $out (i32.add (local.get $out) (i32.const 2))))
          (else
            ;; "u00", then two digits.
            (i32.store offset=1 align=1 (local.get $out)
              (i32.or
                (i32.const 0x303075)
                (i32.shl
                  (i32.load8_u offset=128 (i32.shr_u (local.get $byte) (i32.const 4)))
                  (i32.const 24))))
            (i32.store8 offset=5 (local.get $out)
              (i32.load8_u offset=128 (i32.and (local.get $byte) (i32.const 15))))
            (local.set $out (i32.add (local.get $out) (i32.const 6)))))
        (br $blocks)))
    (local.get $out)))
