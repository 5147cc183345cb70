//! Unreduced 4-word products and squares as `asm!` text, shared by the fields of secp256k1 and secp256r1. Uses MULX
//! with the two carry chains of ADCX and ADOX, which the compiler does not generate.

/// Adds `rdx * $operand` to `$low` (carry flag chain) and `$high` (overflow flag chain).
macro_rules! multiply_add_step {
    ($operand:expr, $low:literal, $high:literal) => {
        concat!(
            "mulx rcx, rax, ",
            $operand,
            "\n",
            "adcx ",
            $low,
            ", rax\n",
            "adox ",
            $high,
            ", rcx\n",
        )
    };
}

/// Adds word `$b` of the second factor times the first factor to five accumulators; `$t4` is initialised here.
macro_rules! multiply_row {
    ($b:literal, $t0:literal, $t1:literal, $t2:literal, $t3:literal, $t4:literal) => {
        concat!(
            "mov rdx, [rdi + ",
            $b,
            "]\n",
            "xor ",
            $t4,
            "d, ",
            $t4,
            "d\n", // also clears both flags
            $crate::adx::multiply_add_step!("[rsi]", $t0, $t1),
            $crate::adx::multiply_add_step!("[rsi + 8]", $t1, $t2),
            $crate::adx::multiply_add_step!("[rsi + 16]", $t2, $t3),
            $crate::adx::multiply_add_step!("[rsi + 24]", $t3, $t4),
            "mov eax, 0\n",
            "adcx ",
            $t4,
            ", rax\n",
        )
    };
}

/// r8..r15 = the four words at \[rsi\] times the four words at \[rdi\]. Clobbers rax, rcx and rdx.
macro_rules! product_in_words {
    () => {
        concat!(
            "mov rdx, [rdi]\n",
            "mulx r9, r8, [rsi]\n",
            "mulx r10, rax, [rsi + 8]\n",
            "add r9, rax\n",
            "mulx r11, rax, [rsi + 16]\n",
            "adc r10, rax\n",
            "mulx r12, rax, [rsi + 24]\n",
            "adc r11, rax\n",
            "adc r12, 0\n",
            $crate::adx::multiply_row!("8", "r9", "r10", "r11", "r12", "r13"),
            $crate::adx::multiply_row!("16", "r10", "r11", "r12", "r13", "r14"),
            $crate::adx::multiply_row!("24", "r11", "r12", "r13", "r14", "r15"),
        )
    };
}

/// (rsi, r9..r14, rdi) = the square of (rsi, rdi, r8, r15), low word first. Clobbers rax, rcx and rdx.
macro_rules! square_in_words {
    () => {
        concat!(
            // Cross products,
            "mov rdx, rsi\n",
            "mulx r10, r9, rdi\n",
            "mulx r11, rax, r8\n",
            "add r10, rax\n",
            "mulx r12, rax, r15\n",
            "adc r11, rax\n",
            "adc r12, 0\n",
            "mov rdx, rdi\n",
            "xor r13d, r13d\n", // also clears both flags
            $crate::adx::multiply_add_step!("r8", "r11", "r12"),
            $crate::adx::multiply_add_step!("r15", "r12", "r13"),
            "mov eax, 0\n",
            "adcx r13, rax\n",
            "mov rdx, r8\n",
            "mulx r14, rax, r15\n",
            "add r13, rax\n",
            "adc r14, 0\n",
            // doubled in the carry flag chain; squares added in the overflow flag chain.
            "mov rdx, rsi\n",
            "xor eax, eax\n",
            "mulx rcx, rsi, rdx\n",
            "adcx r9, r9\n",
            "adox r9, rcx\n",
            "mov rdx, rdi\n",
            "mov edi, 0\n",
            "mulx rcx, rax, rdx\n",
            "adcx r10, r10\n",
            "adox r10, rax\n",
            "adcx r11, r11\n",
            "adox r11, rcx\n",
            "mov rdx, r8\n",
            "mulx rcx, rax, rdx\n",
            "adcx r12, r12\n",
            "adox r12, rax\n",
            "adcx r13, r13\n",
            "adox r13, rcx\n",
            "mov rdx, r15\n",
            "mulx rcx, rax, rdx\n",
            "adcx r14, r14\n",
            "adox r14, rax\n",
            "adcx rdi, rdi\n",
            "adox rdi, rcx\n",
        )
    };
}

pub(crate) use {multiply_add_step, multiply_row, product_in_words, square_in_words};
