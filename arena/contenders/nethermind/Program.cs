using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Nethermind.Core.Specs;
using Nethermind.Evm.Precompiles;

/// <summary>
/// Nethermind as a contender, loaded from an installation's assemblies: its precompiles. Implements the protocol of
/// docs/adding-a-contender.md on standard input and output.
/// </summary>
public static class Program
{
    /// <summary>One prepared item.</summary>
    private sealed class Call
    {
        public IPrecompile Precompile;
        public byte[] Input;
    }

    public static int Main()
    {
        string home = Environment.GetEnvironmentVariable("NETHERMIND_HOME");
        AppDomain.CurrentDomain.AssemblyResolve += (_, request) =>
        {
            string file = Path.Combine(Path.GetFullPath(home), new AssemblyName(request.Name).Name + ".dll");
            return File.Exists(file) ? Assembly.LoadFrom(file) : null;
        };
        // In a separate method, because its assemblies can only be resolved from here on.
        Start();
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Start() => Contender.Answer();

    private static class Contender
    {
        private static readonly IReleaseSpec Spec = Nethermind.Specs.Forks.Osaka.Instance;
        private static IPrecompile operation;
        private static string items;
        private static Call[] calls = new Call[0];
        private static Action<byte[], uint> change = (input, word) => { };
        private static long sink;

        /// <summary>Precompiles by operation: every class with an address and an instance.</summary>
        private static Dictionary<string, IPrecompile> Operations()
        {
            var all = new Dictionary<string, IPrecompile>();
            const BindingFlags statics = BindingFlags.Public | BindingFlags.Static | BindingFlags.FlattenHierarchy;
            foreach (Type type in Assembly.Load("Nethermind.Evm.Precompiles").GetTypes())
            {
                PropertyInfo address = type.GetProperty("Address", statics);
                object instance = type.GetField("Instance", statics)?.GetValue(null)
                    ?? type.GetProperty("Instance", statics)?.GetValue(null);
                // Modexp has a separate class for the forks before Berlin.
                if (address == null || type.Name.Contains("PreEip") || !(instance is IPrecompile precompile))
                {
                    continue;
                }
                string digits = address.GetValue(null).ToString().Substring(2).TrimStart('0');
                if (digits.Length <= 3)
                {
                    int number = Convert.ToInt32(digits, 16);
                    all["precompile_" + number.ToString("x2")] = precompile;
                }
            }
            return all;
        }

        private static ulong Words(byte[] bytes)
        {
            ulong sum = 0;
            foreach (ulong word in MemoryMarshal.Cast<byte, ulong>(bytes))
            {
                sum += word;
            }
            for (int i = bytes.Length & ~7; i < bytes.Length; i++)
            {
                sum += (ulong)bytes[i] << 8 * (i & 7);
            }
            return sum;
        }

        /// <summary>Two parts: a status byte, then the output, which is empty on failure.</summary>
        private static byte[] Output(Call call)
        {
            var gas = call.Precompile.BaseGasCost(Spec) + call.Precompile.DataGasCost(call.Input, Spec);
            if (gas < 0)
            {
                throw new InvalidOperationException("gas");
            }
            var result = call.Precompile.Run(call.Input, Spec);
            return result.IsSuccess ? result.Data : null;
        }

        /// <summary>
        /// Changes the bytes of an item before a call: by a rule, none or &lt;kind&gt;@&lt;offset&gt;, with a word.
        /// Items that are too short are not changed.
        /// </summary>
        private static Action<byte[], uint> Change(string rule)
        {
            if (rule == "none")
            {
                return (input, word) => { };
            }
            string[] parts = rule.Split('@');
            // The shift of the first byte, the shift increment per byte, and the number of bytes.
            var kinds = new Dictionary<string, (int First, int Step, int Size)>
            {
                ["le"] = (0, 8, 4), ["be"] = (24, -8, 4), ["le16"] = (16, 8, 2), ["digits"] = (0, 3, 8),
            };
            if (parts.Length != 2 || !kinds.TryGetValue(parts[0], out var kind) || !int.TryParse(parts[1], out int offset))
            {
                throw new ArgumentException($"change rule {rule}: expected none or le, be, le16 or digits@<offset>");
            }
            bool digits = kind.Size == 8;
            return (input, word) =>
            {
                int at = offset < 0 ? offset + input.Length : offset;
                if (at < 0 || at > input.Length - kind.Size)
                {
                    return;
                }
                for (int i = 0; i < kind.Size; i++)
                {
                    uint part = word >> (kind.First + kind.Step * i);
                    input[at + i] = (byte)(digits ? '0' + (part & 7) : part);
                }
            };
        }

        private static ulong Sum(long n, uint seed)
        {
            ulong sum = 0;
            int at = 0;
            uint x = seed;
            for (long k = 0; k < n; k++)
            {
                x = unchecked(x * 747796405 + 2891336453);
                change(calls[at].Input, x);
                byte[] output = Output(calls[at]);
                if (output != null)
                {
                    sum += 1 + Words(output);
                }
                if (++at == calls.Length)
                {
                    at = 0;
                }
            }
            return sum;
        }

        private static void Verify(string path)
        {
            using (var file = new BinaryWriter(File.Create(path)))
            {
                // Batches change the items, so they are parsed again for verification.
                foreach (Call call in Prepare(operation, items))
                {
                    byte[] output = Output(call);
                    file.Write(1 + (output?.Length ?? 0));
                    file.Write(output != null);
                    file.Write(output ?? new byte[0]);
                }
            }
        }

        private static Call[] Prepare(IPrecompile precompile, string path)
        {
            var found = new List<Call>();
            using (var file = new BinaryReader(File.OpenRead(path)))
            {
                while (file.BaseStream.Position < file.BaseStream.Length)
                {
                    byte[] input = file.ReadBytes(file.ReadInt32());
                    found.Add(new Call { Precompile = precompile, Input = input });
                }
            }
            return found.ToArray();
        }

        private static double Nanoseconds(Stopwatch clock) => clock.ElapsedTicks * (1e9 / Stopwatch.Frequency);

        private static string Reply(Dictionary<string, IPrecompile> operations, string[] words)
        {
            long n = words.Length > 1 && long.TryParse(words[1], out long count) ? count : 0;
            uint seed = words.Length > 2 && uint.TryParse(words[2], out uint drawn) ? drawn : 0;
            switch (words[0])
            {
                case "describe":
                    string version = typeof(IPrecompile).Assembly.GetName().Version?.ToString() ?? "unknown";
                    string names = string.Join("\",\"", operations.Keys);
                    return $"\"name\":\"nethermind\",\"version\":\"{version}\",\"runtime\":\".NET {Environment.Version}\","
                        + $"\"ops\":[\"{names}\"],\"threads\":1";
                case "prepare":
                    if (!operations.TryGetValue(words[1], out IPrecompile precompile))
                    {
                        return "\"err\":\"unsupported\",\"msg\":\"no such operation\"";
                    }
                    (operation, items) = (precompile, words[2]);
                    calls = Prepare(operation, items);
                    change = Change(words.Length > 3 ? words[3] : "none");
                    return $"\"ok\":true,\"changes\":true,\"items\":{calls.Length}";
                case "verify":
                    Verify(words[1]);
                    return "\"ok\":true";
                case "run":
                    Stopwatch clock = Stopwatch.StartNew();
                    ulong sum = Sum(n, seed);
                    return $"\"n\":{n},\"ns\":{Nanoseconds(clock):F0},\"acc\":\"{sum:x16}\"";
                case "alloc":
                    int collections = GC.CollectionCount(0);
                    long before = GC.GetAllocatedBytesForCurrentThread();
                    sink = (long)Sum(n, seed);
                    long bytes = GC.GetAllocatedBytesForCurrentThread() - before;
                    return $"\"n\":{n},\"alloc_bytes\":{bytes},\"gc\":{GC.CollectionCount(0) - collections}";
                case "noop":
                    Stopwatch empty = Stopwatch.StartNew();
                    for (long k = 0; k < n; k++)
                    {
                        System.Threading.Volatile.Write(ref sink, k);
                    }
                    return $"\"n\":{n},\"ns\":{Nanoseconds(empty):F0}";
                case "gc":
                    GC.Collect();
                    return "\"ok\":true";
                default:
                    return "\"err\":\"unsupported\",\"msg\":\"no such command\"";
            }
        }

        public static void Answer()
        {
            Dictionary<string, IPrecompile> operations = Operations();
            for (string line = Console.ReadLine(); line != null && line != "quit"; line = Console.ReadLine())
            {
                string reply;
                try
                {
                    reply = Reply(operations, line.Trim().Split(' '));
                }
                catch (Exception error)
                {
                    string message = new string(error.Message.Where(c => c >= ' ' && c != '"' && c != '\\').ToArray());
                    reply = $"\"err\":\"rejected\",\"msg\":\"{message}\"";
                }
                Console.WriteLine("{\"arena\":1," + reply + "}");
                Console.Out.Flush();
            }
        }
    }
}
