//! The rounds in safe Rust, one word at a time.

macro_rules! g {
    ($v:ident, $m:ident, $a:literal $b:literal $c:literal $d:literal, $x:literal $y:literal) => {
        $v[$a] = $v[$a].wrapping_add($m[$x]).wrapping_add($v[$b]);
        $v[$d] = ($v[$d] ^ $v[$a]).rotate_right(32);
        $v[$c] = $v[$c].wrapping_add($v[$d]);
        $v[$b] = ($v[$b] ^ $v[$c]).rotate_right(24);
        $v[$a] = $v[$a].wrapping_add($m[$y]).wrapping_add($v[$b]);
        $v[$d] = ($v[$d] ^ $v[$a]).rotate_right(16);
        $v[$c] = $v[$c].wrapping_add($v[$d]);
        $v[$b] = ($v[$b] ^ $v[$c]).rotate_right(63);
    };
}

/// A round with one row of the schedule SIGMA.
macro_rules! round {
    ($v:ident, $m:ident, $s0:literal $s1:literal $s2:literal $s3:literal $s4:literal $s5:literal $s6:literal $s7:literal
     $s8:literal $s9:literal $s10:literal $s11:literal $s12:literal $s13:literal $s14:literal $s15:literal) => {
        g!($v, $m, 0 4 8 12, $s0 $s1);
        g!($v, $m, 1 5 9 13, $s2 $s3);
        g!($v, $m, 2 6 10 14, $s4 $s5);
        g!($v, $m, 3 7 11 15, $s6 $s7);
        g!($v, $m, 0 5 10 15, $s8 $s9);
        g!($v, $m, 1 6 11 12, $s10 $s11);
        g!($v, $m, 2 7 8 13, $s12 $s13);
        g!($v, $m, 3 4 9 14, $s14 $s15);
    };
}

pub(super) fn mix(rounds: u32, v: &mut [u64; 16], m: &[u64; 16]) {
    let mut w = *v;
    let mut left = rounds;
    macro_rules! next {
        ($($s:literal)*) => {
            if left == 0 {
                break;
            }
            left -= 1;
            round!(w, m, $($s)*);
        };
    }
    loop {
        each_row!(next);
    }
    *v = w;
}
