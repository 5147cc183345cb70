import com.sun.management.ThreadMXBean;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.tuweni.bytes.Bytes;
import org.hyperledger.besu.datatypes.Address;
import org.hyperledger.besu.datatypes.Wei;
import org.hyperledger.besu.evm.Code;
import org.hyperledger.besu.evm.EVM;
import org.hyperledger.besu.evm.MainnetEVMs;
import org.hyperledger.besu.evm.fluent.SimpleBlockValues;
import org.hyperledger.besu.evm.fluent.SimpleWorld;
import org.hyperledger.besu.evm.frame.MessageFrame;
import org.hyperledger.besu.evm.gascalculator.OsakaGasCalculator;
import org.hyperledger.besu.evm.internal.EvmConfiguration;
import org.hyperledger.besu.evm.precompile.BigIntegerModularExponentiationPrecompiledContract;
import org.hyperledger.besu.evm.precompile.KZGPointEvalPrecompiledContract;
import org.hyperledger.besu.evm.precompile.MainnetPrecompiledContracts;
import org.hyperledger.besu.evm.precompile.PrecompileContractRegistry;
import org.hyperledger.besu.evm.precompile.PrecompiledContract;
import org.hyperledger.besu.evm.processor.MessageCallProcessor;
import org.hyperledger.besu.evm.tracing.OperationTracer;

/**
 * Besu as a contender, loaded from a distribution's jars: its precompiles, and programs that call them. Implements the
 * protocol of docs/adding-a-contender.md on standard input and output.
 */
public final class Besu {
  private static final long GAS = 30_000_000;
  private static final Address CODE = Address.fromHexString("0xc0de");
  private static final Address CALLER = Address.fromHexString("0xca11");

  /** The outputs of one call. All calls refer to the bytes of their item. */
  interface Call {
    byte[][] run() throws Exception;
  }

  /** Changes the bytes of an item before a call by the rule of the row, with a word. */
  interface Change {
    void apply(byte[] item, int word);
  }

  /** Parses a rule, {@code none} or {@code <kind>@<offset>}. Items that are too short are not changed. */
  private static Change change(String rule) {
    if (rule.equals("none")) {
      return (item, word) -> {};
    }
    if (!rule.matches("(le|be|le16|digits)@-?\\d{1,9}")) {
      throw new IllegalArgumentException("change rule " + rule + ": expected none or le, be, le16 or digits@<offset>");
    }
    String kind = rule.substring(0, rule.indexOf('@'));
    int offset = Integer.parseInt(rule.substring(rule.indexOf('@') + 1));
    int size = kind.equals("digits") ? 8 : kind.equals("le16") ? 2 : 4;
    return (item, word) -> {
      int at = offset < 0 ? offset + item.length : offset;
      if (at < 0 || at > item.length - size) {
        return;
      }
      for (int i = 0; i < size; i++) {
        int shift =
            switch (kind) {
              case "le" -> 8 * i;
              case "be" -> 24 - 8 * i;
              case "le16" -> 16 + 8 * i;
              default -> 3 * i;
            };
        item[at + i] = (byte) (size == 8 ? '0' + (word >>> shift & 7) : word >>> shift);
      }
    };
  }

  private static final byte[] SUCCESS = {1};
  private static final byte[] FAILURE = {0};
  private static final byte[] NOTHING = {};

  private static final PrecompileContractRegistry REGISTRY =
      MainnetPrecompiledContracts.osaka(new OsakaGasCalculator());

  private static MessageFrame frame(Code code, Bytes input, long gas) {
    return MessageFrame.builder()
        .type(MessageFrame.Type.MESSAGE_CALL)
        .worldUpdater(new SimpleWorld())
        .initialGas(gas)
        .contract(CODE)
        .address(CODE)
        .originator(CALLER)
        .sender(CALLER)
        .gasPrice(Wei.ZERO)
        .inputData(input)
        .value(Wei.ZERO)
        .apparentValue(Wei.ZERO)
        .code(code)
        .blockValues(new SimpleBlockValues())
        .miningBeneficiary(Address.ZERO)
        .blockHashLookup((__, ___) -> null)
        .eip2930AccessListWarmAddresses(Set.of())
        .completer(__ -> {})
        .build();
  }

  private static Call precompile(PrecompiledContract contract, byte[] item) {
    Bytes input = Bytes.wrap(item);
    MessageFrame frame = frame(Code.EMPTY_CODE, Bytes.EMPTY, Long.MAX_VALUE);
    return () -> {
      if (contract.gasRequirement(input) < 0) {
        throw new IllegalStateException("gas");
      }
      PrecompiledContract.PrecompileContractResult result = contract.computePrecompile(input, frame);
      return result.state() == MessageFrame.State.COMPLETED_SUCCESS
          ? new byte[][] {SUCCESS, result.output().toArrayUnsafe()}
          : new byte[][] {FAILURE, NOTHING};
    };
  }

  /** An engine with everything needed to run a call. */
  private static MessageCallProcessor engine() {
    EVM evm = MainnetEVMs.osaka(BigInteger.ONE, EvmConfiguration.DEFAULT);
    return new MessageCallProcessor(evm, REGISTRY);
  }

  private static MessageFrame execute(MessageCallProcessor engine, Bytes code, Bytes data, long gas) {
    MessageFrame first = frame(new Code(code), data, gas);
    var stack = first.getMessageFrameStack();
    while (!stack.isEmpty()) {
      engine.process(stack.peek(), OperationTracer.NO_TRACING);
    }
    if (first.getState() != MessageFrame.State.COMPLETED_SUCCESS) {
      throw new IllegalStateException(first.getState() + " " + first.getExceptionalHaltReason());
    }
    return first;
  }

  private static byte[] little(long value) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  private static Map<String, Function<byte[], Call>> operations() {
    Map<String, Function<byte[], Call>> all = new HashMap<>();
    for (int number = 0; number <= 0x100; number++) {
      String digits = Integer.toHexString(number);
      PrecompiledContract contract = REGISTRY.get(Address.fromHexString("0x" + digits));
      if (contract != null) {
        all.put(String.format("precompile_%02x", number), item -> precompile(contract, item));
      }
    }
    all.put(
        "bytecode_setup",
        item ->
            () -> {
              Bytes code = Bytes.wrap(HexFormat.of().parseHex(new String(item)));
              MessageFrame end = execute(engine(), code, Bytes.EMPTY, GAS);
              return new byte[][] {little(GAS - end.getRemainingGas())};
            });
    all.put(
        "bytecode",
        item -> {
          MessageCallProcessor engine = engine();
          int length = ByteBuffer.wrap(item).order(ByteOrder.LITTLE_ENDIAN).getInt();
          Bytes code = Bytes.wrap(item, 4, length);
          Bytes data = Bytes.wrap(item, 4 + length, item.length - 4 - length);
          return () ->
              new byte[][] {
                execute(engine, code, data, 2 * GAS).getOutputData().toArrayUnsafe()
              };
        });
    return all;
  }

  // Protocol

  private static long words(byte[] bytes) {
    long sum = 0;
    for (int i = 0; i < bytes.length; i++) {
      sum += (bytes[i] & 255L) << 8 * (i & 7);
    }
    return sum;
  }

  private static List<byte[]> blobs(byte[] file) {
    ByteBuffer in = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    List<byte[]> items = new ArrayList<>();
    while (in.hasRemaining()) {
      byte[] item = new byte[in.getInt()];
      in.get(item);
      items.add(item);
    }
    return items;
  }

  private long sum(long n, int seed) throws Exception {
    long sum = 0;
    int at = 0;
    int x = seed;
    for (long k = 0; k < n; k++) {
      x = x * 747796405 + (int) 2891336453L;
      change.apply(items.get(at), x);
      for (byte[] part : calls[at].run()) {
        sum += words(part);
      }
      if (++at == calls.length) {
        at = 0;
      }
    }
    return sum;
  }

  private static long collections() {
    long count = 0;
    for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      count += bean.getCollectionCount();
    }
    return count;
  }

  private static volatile long sink;

  private Function<byte[], Call> operation;
  private byte[] file = {};
  private List<byte[]> items = List.of();
  private Call[] calls = {};
  private Change change = (item, word) -> {};

  private String answer(Map<String, Function<byte[], Call>> operations, String[] words)
      throws Exception {
    long n = words.length > 1 && words[1].matches("\\d+") ? Long.parseLong(words[1]) : 0;
    int seed = words.length > 2 && words[2].matches("\\d+") ? Integer.parseUnsignedInt(words[2]) : 0;
    switch (words[0]) {
      case "describe" -> {
        Package from = PrecompiledContract.class.getPackage();
        String version = from.getImplementationVersion();
        String names = String.join("\",\"", operations.keySet());
        return String.format(
            "\"name\":\"besu\",\"version\":\"%s\",\"runtime\":\"Java %s\",\"ops\":[\"%s\"],\"threads\":1",
            version == null ? "unknown" : version, System.getProperty("java.version"), names);
      }
      case "prepare" -> {
        if (!operations.containsKey(words[1])) {
          return "\"err\":\"unsupported\",\"msg\":\"no such operation\"";
        }
        operation = operations.get(words[1]);
        file = Files.readAllBytes(Path.of(words[2]));
        items = blobs(file);
        calls = items.stream().map(operation).toArray(Call[]::new);
        change = change(words.length > 3 ? words[3] : "none");
        return "\"ok\":true,\"changes\":true,\"items\":" + calls.length;
      }
      case "verify" -> {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        // Batches change the items, so they are parsed again for verification.
        for (byte[] item : blobs(file)) {
          Call call = operation.apply(item);
          ByteArrayOutputStream blob = new ByteArrayOutputStream();
          for (byte[] part : call.run()) {
            blob.writeBytes(part);
          }
          ByteBuffer length = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
          out.writeBytes(length.putInt(blob.size()).array());
          out.writeBytes(blob.toByteArray());
        }
        Files.write(Path.of(words[1]), out.toByteArray());
        return "\"ok\":true";
      }
      case "run" -> {
        long start = System.nanoTime();
        long sum = sum(n, seed);
        long took = System.nanoTime() - start;
        return String.format("\"n\":%d,\"ns\":%d,\"acc\":\"%016x\"", n, took, sum);
      }
      case "alloc" -> {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long gc = collections();
        long before = threads.getCurrentThreadAllocatedBytes();
        sink = sum(n, seed);
        long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        return String.format(
            "\"n\":%d,\"alloc_bytes\":%d,\"gc\":%d", n, bytes, collections() - gc);
      }
      case "noop" -> {
        long start = System.nanoTime();
        for (long k = 0; k < n; k++) {
          sink = k;
        }
        return String.format("\"n\":%d,\"ns\":%d", n, System.nanoTime() - start);
      }
      case "gc" -> {
        System.gc();
        return "\"ok\":true";
      }
      default -> {
        return "\"err\":\"unsupported\",\"msg\":\"no such command\"";
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    KZGPointEvalPrecompiledContract.init();
    BigIntegerModularExponentiationPrecompiledContract.maybeEnableNative();
    Map<String, Function<byte[], Call>> operations = operations();
    Besu state = new Besu();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null && !line.equals("quit"); line = in.readLine()) {
      String reply;
      try {
        reply = state.answer(operations, line.trim().split(" "));
      } catch (Exception | LinkageError error) {
        String message = String.valueOf(error).replaceAll("[\"\\\\\\p{Cntrl}]", " ");
        reply = "\"err\":\"rejected\",\"msg\":\"" + message + "\"";
      }
      System.out.println("{\"arena\":1," + reply + "}");
      System.out.flush();
    }
  }
}
