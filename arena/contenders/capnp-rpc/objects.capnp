@0xd1b3a1f6c7e8a9b5;

interface Objects {
  echo @0 (text :Text) -> (text :Text);
  log @1 (text :Text);
  digest @2 () -> (digest :UInt64);
  link @3 () -> (link :Link);
}

interface Link {
  next @0 (text :Text) -> (link :Link);
  digest @1 () -> (digest :UInt64);
}
