;; Searches bytes sixteen at a time. byte-search.ts carries the compiled form of this file:
;;   wat2wasm byte-search.wat -o - | base64 -w 0        (wabt 1.0.39)
;; Both loops may load up to 15 bytes behind `end`; the memory is that much larger than what is searched.
(module
  (import "host" "memory" (memory 1))

  ;; How many line feeds lie in [at, end).
  (func (export "countLineFeeds") (param $at i32) (param $end i32) (result i32)
    (local $count i32)
    (block $tail
      (loop $blocks
        (br_if $tail (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
        (local.set $count
          (i32.add
            (local.get $count)
            (i32.popcnt
              (i8x16.bitmask
                (i8x16.eq (v128.load align=1 (local.get $at)) (i8x16.splat (i32.const 10)))))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $blocks)))
    (block $done
      (loop $bytes
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $count
          (i32.add (local.get $count) (i32.eq (i32.load8_u (local.get $at)) (i32.const 10))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $bytes)))
    (local.get $count))

  ;; Where the needle (length bytes at $needle, one at least) first starts in [at, end) and also ends there; -1 for nowhere.
  ;; A place is looked at closely only when its first and its last byte fit.
  (func (export "find") (param $at i32) (param $end i32) (param $needle i32) (param $length i32) (result i32)
    (local $first v128)
    (local $last v128)
    (local $fits i32)
    (local $place i32)
    (local.set $first (i8x16.splat (i32.load8_u (local.get $needle))))
    (local.set $last
      (i8x16.splat
        (i32.load8_u (i32.sub (i32.add (local.get $needle) (local.get $length)) (i32.const 1)))))
    (block $nowhere
      (loop $blocks
        (br_if $nowhere (i32.gt_u (i32.add (local.get $at) (local.get $length)) (local.get $end)))
        (local.set $fits
          (i8x16.bitmask
            (v128.and
              (i8x16.eq (v128.load align=1 (local.get $at)) (local.get $first))
              (i8x16.eq
                (v128.load align=1
                  (i32.sub (i32.add (local.get $at) (local.get $length)) (i32.const 1)))
                (local.get $last)))))
        (block $none
          (loop $places
            (br_if $none (i32.eqz (local.get $fits)))
            (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $fits))))
            (br_if $nowhere
              (i32.gt_u (i32.add (local.get $place) (local.get $length)) (local.get $end)))
            (if (call $equal (local.get $place) (local.get $needle) (local.get $length))
              (then (return (local.get $place))))
            (local.set $fits (i32.and (local.get $fits) (i32.sub (local.get $fits) (i32.const 1))))
            (br $places)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $blocks)))
    (i32.const -1))

  (func $equal (param $left i32) (param $right i32) (param $length i32) (result i32)
    (block $different
      (loop $bytes
        (br_if $different
          (i32.ne (i32.load8_u (local.get $left)) (i32.load8_u (local.get $right))))
        (local.set $left (i32.add (local.get $left) (i32.const 1)))
        (local.set $right (i32.add (local.get $right) (i32.const 1)))
        (local.set $length (i32.sub (local.get $length) (i32.const 1)))
        (br_if $bytes (local.get $length)))
      (return (i32.const 1)))
    (i32.const 0)))
