@0xd1b3a1f6c7e8a9b5;

interface Objects {
  echo @0 (text :Text) -> (text :Text);
  log @1 (text :Text);
  digest @2 () -> (digest :UInt64);
  link @3 () -> (link :Link);
  blob @4 (bytes :Data) -> (bytes :Data);
  wait @5 (round :UInt64) -> (text :Text);
  settle @6 (round :UInt64, text :Text);
  create @7 (text :Text, first :UInt64, count :UInt32) -> (objects :List(Counted));
  dropped @8 () -> (sum :UInt64);
}

interface Link {
  next @0 (text :Text) -> (link :Link);
  digest @1 () -> (digest :UInt64);
}

interface Counted {
  word @0 () -> (word :UInt64);
}
