//! Compiles the schema.

fn main() {
    let compiled = capnpc::CompilerCommand::new().file("objects.capnp").run();
    compiled.expect("objects.capnp");
}
