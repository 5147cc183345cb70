//! The constants of the maps.
//!
//! The coefficients of the isogenies are those of \[RFC9380\], appendix E, lowest first, multiplied by the constant that
//! makes the numerators monic. The denominators are powers of one polynomial, as in any isogeny.

use super::{
    field::Fp,
    fp2::Fp2,
    literal::{constant, small},
};

/// Returns `re + im u`.
const fn small_in_fp2(re: i64, im: i64) -> Fp2 {
    Fp2::new([small(re), small(im)])
}

/// (p - 3) / 4, least significant word first.
pub(super) const QUARTER: [u64; 6] = [
    0xee7f_bfff_ffff_eaaa,
    0x07aa_ffff_ac54_ffff,
    0xd9cc_34a8_3dac_3d89,
    0xd91d_d2e1_3ce1_44af,
    0x92c6_e9ed_90d2_eb35,
    0x0680_447a_8e5f_f9a6,
];

// The curve y^2 = x^3 + A x + B that is 11-isogenous to G1's, and Z.

pub(super) const G1_A: Fp = constant(
    "00144698a3b8e9433d693a02c96d4982b0ea985383ee66a8d8e8981aefd881ac98936f8da0e0f97f5cf428082d584c1d",
);
pub(super) const G1_B: Fp = constant(
    "12e2908d11688030018b12e8753eee3b2016c1f0f24f4070a0b9c14fcef35ef55a23215a316ceaa5d1cc48e98e172be0",
);
pub(super) const G1_Z: Fp = small(11);
/// A square root of -Z^3.
pub(super) const G1_ROOT: Fp = constant(
    "03d689d1e0e762cef9f2bec6130316806b4c80eda6fc10ce77ae83eab1ea8b8b8a407c9c6db195e06f2dbeabc2baeff5",
);

/// Numerator of x, without its highest coefficient, which is 1.
pub(super) const G1_X: [Fp; 11] = [
    constant(
        "00753e5b010b5c2aed6ce5ba4aa4cf117b975dfef6ff2c0a82e8d47835d0591edad4178b01e37966fba894887c542cb9",
    ),
    constant(
        "1413c543388686bc391125039a3d376fa96fc987a0b99952dbc05e4a373ff99c5106b174c8985431036ff03dfb54edea",
    ),
    constant(
        "0071d592bc054e3b8bffc75b81aefafa0a97f03b9114cd1363513aecfeb7610341a16b39ec1f2da1df687186972af9c6",
    ),
    constant(
        "05b098e05c2aabf1e6143c24142c25324c6dcc53ad565d704de934aa345920b145b4fe75d201aef640487751fe98ab0a",
    ),
    constant(
        "183f63e4654b1979ad4a84532f7e099d6d92b7c6efc1d8b2faa622e45e37ec2bfb991ce5556a9bdca5545a728ca528d0",
    ),
    constant(
        "069e074638eeab73a3b7b2e2fa9fc54b33b081fdbd70ef8b8d6758948ac6d2d388a13b2b8e7fe14e18bd96caa6f2f41e",
    ),
    constant(
        "0d20f79145ee9f35035eb4485a8940705e481de8641f0c42165fdad250df0a5d84105c94491b1df3cf4f73c93475edfa",
    ),
    constant(
        "0990b39b1545d7f3990ca675e6c070c715af1ac4f6f9aab95cd52b05e28fa1b119f5fe26c973a01f3089b1c3bcf375a4",
    ),
    constant(
        "0c1a3784b0b69f918c6576e46b265c603adc96424813ae770555d3d09dec9edb34fcdfd99b8024aad8d60a58abd6ab28",
    ),
    constant(
        "04e191198fb0b670f56e5bb36434c322563036138e4314008ace68587ddb0a83824a49af4209a889ce74c108e919f68b",
    ),
    constant(
        "095fc13ab9e92ad4476d6e3eb3a56680f682b4ee96f7d03776df533978f31c1593174e4b4b7865002d6384d168ecdd0a",
    ),
];
/// Numerator of y, likewise.
pub(super) const G1_Y: [Fp; 15] = [
    constant(
        "09bcbec9ae8e0655b8e40aa5731f4e9b331b174f55eeae0b9d99206e93727adf9ecf28ee60286e038d800d943dcc9ee4",
    ),
    constant(
        "057a1520f315cfd72fad868a27ac3906f8c673af18d21d8512780789cfc48c766332e57a2aee5eaa9ba2d9de81447c99",
    ),
    constant(
        "16eb4b2ef023f92e31d92985ce6c8b965b4d93a8cb4441151ec879bda46089e64381c969d60ab8c5242d56cb939b274a",
    ),
    constant(
        "160223bcd8e42dc0a9db57611ba5c980db2c8739724b5a0320adfd33fcd581028d67b8ca3b3d957f7fd3c24cbbb910a5",
    ),
    constant(
        "06d7438d1bfad672dcdf88ee690253f11c5a1fed59c2baac619292910409fb49f5bae25203582b48b7763df2f1fb0c0b",
    ),
    constant(
        "07a287f19732b0b534444f558dba44de2af1fc28360173f99a71806985a86aa47a448881c0d5d50e3420275cd00567fd",
    ),
    constant(
        "184eb35746ebd2a3b9c403caabeddd677af98d87bfcdff2a66b25ae102d006d50d0e41496538e0121d4d1d71ad17e13c",
    ),
    constant(
        "14f017e5f7fd3e1d74a85dd52223ffd3aa2b3ac1d1e404332b98c9cf8f8ed437cd366699cf5d825b292f73f8140c2ade",
    ),
    constant(
        "025e7e18eeb2f4ae26e666933991e03824455d1aa2996c13d47aa2736c42c9e70bf861dc672db6f8fa3e90d8f7a7f190",
    ),
    constant(
        "03260212f4d3f599236a5b81f227007b8e2cce41eea34aeb4281436589a54009a9bd121d816b50c59127a7ed956c374a",
    ),
    constant(
        "0655b0e36177aa68bbfc201ae593f1fad8c67c778c8c7d554ebc6f51ddf34a7ea674772a7421324ea62b0e67ce017544",
    ),
    constant(
        "0cbd991cb342ee298328c0999d04f5cf5e5c9aae60b581d5da6c367d7c769f1e8629d29e3824c6bad76830e5979d8cfa",
    ),
    constant(
        "165194d26518a8ff02df498aba7c1ffa31a5daf5c96b70437dfa63ddaceed6b0548d144d19674e162e74ac0c437302ab",
    ),
    constant(
        "07955fde0922e84ccbaf8c979f60579d49a5b29eca474a2cb4b633407aa0c5bfc33d34a0f0c567674afd0744b774e6ad",
    ),
    constant(
        "0e0fa1d816ddc03e6b24255e0d7819c171c40f65e273b853324efcd6356caa205ca2f570f13497804415473a1d634b8f",
    ),
];
/// The denominators are the square and the cube of Z times this polynomial, likewise.
pub(super) const G1_KERNEL: [Fp; 5] = [
    constant(
        "133341fb0962a34cb0504a9c4fada0a5090d38679b4c040d5d1c3afb023a3409fcc0815fea66d8b02bbef9c8b5a66e07",
    ),
    constant(
        "0264908af037bcede00d054cf5d4775e83eb6cf63c76b969f8ed174fb59fcff78d201f46f6cfc4ed6552e59ce75177b0",
    ),
    constant(
        "1335c502c1f54c49aceea65e87fd7203ba0f626f305fc0cfd606a5dae9f3c8e81a4b3b69600129fabd307c69bf319d39",
    ),
    constant(
        "094440f65f408a6e930e16e3e92dd17bf60d6e9679a8d3d58593de55ac23703042d609537eb3549aac234d896ca82944",
    ),
    constant(
        "04afe09d5cf4956a23b6b71f59d2b3407b415a774b7be81bbb6fa99cbc798e0ac98ba725a5bc328016b1c268b4766e85",
    ),
];

// The curve y^2 = x^3 + A x + B that is 3-isogenous to G2's, and Z.

pub(super) const G2_A: Fp2 = small_in_fp2(0, 240);
pub(super) const G2_B: Fp2 = small_in_fp2(1012, 1012);
pub(super) const G2_Z: Fp2 = small_in_fp2(-2, -1);
/// A square root of -125, where 125 is the norm of Z^3.
pub(super) const G2_ROOT: Fp = constant(
    "0810e5a23cbb86fd12ded1af502287a397ed25c1d6fe0444e38c48e9c7ddb3c27cfebdd464e90f201fda0eb6983f2533",
);
/// Numerator of x, without its highest coefficient, which is 1.
pub(super) const G2_X: [Fp2; 3] = [
    small_in_fp2(304, 304),
    small_in_fp2(0, -24),
    small_in_fp2(12, -12),
];
/// Numerator of y, likewise.
pub(super) const G2_Y: [Fp2; 3] = [
    small_in_fp2(-752, -752),
    small_in_fp2(0, -264),
    small_in_fp2(18, -18),
];
/// The denominators are the square and the cube of `G2_SCALE` times this polynomial, likewise.
pub(super) const G2_KERNEL: [Fp2; 1] = [small_in_fp2(6, -6)];
pub(super) const G2_SCALE: Fp2 = small_in_fp2(-3, 0);
