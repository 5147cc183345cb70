//! Generates the service. Messages are written by hand in `src/main.rs`, so that no compiler of schemas is required.

use tonic_build::manual::{Builder, Method, Service};

fn main() {
    let method = |name: &str, route: &str, input: &str, output: &str| {
        Method::builder()
            .name(name)
            .route_name(route)
            .input_type(input)
            .output_type(output)
            .codec_path("tonic_prost::ProstCodec")
    };
    let service = Service::builder()
        .name("Objects")
        .package("arena")
        .method(method("echo", "Echo", "crate::Text", "crate::Text").build())
        .method(method("fold", "Fold", "crate::Step", "crate::Digest").build())
        .method(method("blob", "Blob", "crate::Blob", "crate::Blob").build())
        .method(method("wait", "Wait", "crate::Round", "crate::Text").build())
        .method(method("settle", "Settle", "crate::Settled", "crate::Nothing").build())
        .method(
            method("log", "Log", "crate::Text", "crate::Digest")
                .client_streaming()
                .build(),
        )
        .build();
    Builder::new().compile(&[service]);
}
