import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { encodeQR } from "qr"
import { blocksWithin } from "../../../src/programs/cli/renew.ts"
import { aboutText, amountText } from "../../../src/protocol/amount.ts"
import { nameCosts } from "../../../src/protocol/nameCosts.ts"
import { RpcFailure, RpcUnreachable } from "../../../src/rpc/RpcClient.ts"
import { answering, runAlone, runWith } from "./commandRun.ts"
import { hex, inTurn } from "./fakeDaemon.ts"
import { FREE, OWNER, record, TXID, unknownName } from "./someNames.ts"

const OWNED = {
  ...FREE,
  name_show: record("{\"ip\":\"192.0.2.1\",\"x\":[1.0,2]}"),
  name_pending: [],
  name_update: JSON.stringify(TXID),
  validateaddress: { isvalid: true }
}

const KEY = "L1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ"
const HEX_KEY = "7e".repeat(32)
const WORDS = `${"abandon ".repeat(11)}about`

describe("the name of a command", () => {
  it.effect.each([
    ["register", ""],
    ["register", " "],
    ["register", "d/"],
    ["register", "''"],
    ["update", ""],
    ["transfer", ""],
    ["renew", ""],
    ["name", ""]
  ])("svcd-cli %s refuses the name %j and asks no daemon", ([command = "", name = ""]) =>
    Effect.gen(function*() {
      const { daemon, run } = runWith({ ...OWNED, name_show: unknownName })
      const more = command === "transfer" ? [OWNER] : command === "update" ? ["{}"] : []
      const yes = command === "name" ? [] : ["-yes"]
      const { code, stderr, stdout } = yield* run(command, name, ...more, ...yes)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: .*as d\/example\n$/)
      assert.lengthOf(daemon.calls, 0)
    }))

  it.effect("a free name outside every namespace leads to its domain, not to its registration", () =>
    Effect.gen(function*() {
      const { run } = runWith(FREE)
      assert.notInclude((yield* run("update", "example.com", "{}")).stderr, "register ")
      assert.strictEqual(
        (yield* run("name", "example.com")).stdout,
        "example.com is not registered; a domain begins with d/: \"svcd-cli name d/example\" shows one.\n"
      )
    }))
})

describe("a command that needs one of several wallets", () => {
  it.effect("lists them as -rpcwallet names them", () =>
    Effect.gen(function*() {
      const several = new RpcFailure({ code: -19, message: "Multiple wallets are loaded." })
      const { run } = runWith({ name_list: several, listwallets: ["", "w2"] })
      const { code, stderr } = yield* run("names")
      const expected = "error: Several wallets are loaded: \"\" (wallet.json), \"w2\"; " +
        "add -rpcwallet NAME, or -rpcwallet '' for wallet.json.\n"
      assert.deepStrictEqual([code, stderr], [19, expected])
    }))
})

describe("several wallets", () => {
  const several = new RpcFailure({ code: -19, message: "Multiple wallets are loaded." })

  it.effect("leave wallet.json to commands that spend nothing, which say so", () =>
    Effect.gen(function*() {
      const answers = { getnewaddress: inTurn(several, "\"N1new\""), listwallets: ["", "w2"] }
      const { notes, run } = runWith(answers)
      assert.strictEqual((yield* run("receive")).stdout, "N1new\n")
      assert.deepStrictEqual(notes, [
        "svcd-cli: of wallet.json; others are loaded, and -rpcwallet NAME chooses one: \"w2\""
      ])
      const none = runWith({ ...answers, getnewaddress: several, listwallets: ["w1", "w2"] })
      assert.match((yield* none.run("receive")).stderr, /Several wallets are loaded: "w1", "w2"; add -rpcwallet NAME/)
      assert.deepStrictEqual(none.notes, [])
    }))

  it.effect("leave no wallet to a command that spends", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ ...OWNED, name_update: several, listwallets: ["", "w2"] })
      assert.match((yield* run("update", "d/example", "-ip", "192.0.2.9", "-yes")).stderr, /add -rpcwallet NAME/)
      assert.lengthOf(sent("name_update"), 1)
    }))
})

describe("a locked wallet", () => {
  const LOCKED = { ...FREE, getwalletinfo: { unlocked_until: 0 }, walletpassphrase: "null", walletlock: "null" }

  it.effect("is unlocked with the passphrase for the command alone", () =>
    Effect.gen(function*() {
      const { daemon, run } = runWith(LOCKED, { prompt: answering("y", "geheim") })
      assert.strictEqual((yield* run("register", "d/example")).code, 0)
      const calls = daemon.calls.filter(({ method }) => /^wallet|autoregister/.test(method))
      assert.deepStrictEqual(
        calls.map(({ method, params }) => [method, method === "walletpassphrase" ? params : undefined]),
        [["walletpassphrase", ["geheim", 60]], ["name_autoregister", undefined], ["walletlock", undefined]]
      )
    }))

  it.effect("renews names again afterwards if it did before", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      const wallet = { unlocked_until: 5_000, renewals_only: true }
      const { run, sent } = runWith({ ...LOCKED, getwalletinfo: wallet }, { prompt: answering("y", "geheim") })
      yield* run("register", "d/example")
      assert.deepStrictEqual(sent("walletpassphrase"), [["geheim", 60], ["geheim", 4_000, true]])
      assert.lengthOf(sent("walletlock"), 0)
    }))

  it.effect("asks again after a slip, three times at most, and loses nothing", () =>
    Effect.gen(function*() {
      const wrong = new RpcFailure({ code: -14, message: "incorrect" })
      const prompt = answering("y", "falsch", "geheim")
      const slip = runWith({ ...LOCKED, walletpassphrase: inTurn(wrong, "null") }, { prompt })
      assert.strictEqual((yield* slip.run("register", "d/example")).code, 0)
      assert.deepStrictEqual(prompt.secrets, [
        "Passphrase of the wallet: ",
        "The passphrase is wrong. Passphrase of the wallet: "
      ])
      const never = runWith({ ...LOCKED, walletpassphrase: wrong }, { prompt: answering("y", "a", "b", "c", "d") })
      assert.strictEqual(
        (yield* never.run("register", "d/example")).stderr,
        "error: the passphrase is wrong; nothing was done\n"
      )
      assert.lengthOf(never.sent("walletpassphrase"), 3)
      const left = runWith(LOCKED, { prompt: answering("y") })
      assert.match(
        (yield* left.run("register", "d/example")).stderr,
        /^error: no passphrase was given; nothing was done/
      )
      assert.lengthOf([...never.sent("name_autoregister"), ...left.sent("name_autoregister")], 0)
    }))

  it.effect("takes the passphrase of -stdin without a terminal, and otherwise names the flag", () =>
    Effect.gen(function*() {
      const none = runWith(LOCKED)
      assert.match(
        (yield* none.run("register", "d/example", "-yes")).stderr,
        /^error: the passphrase of the wallet is needed.*\n-stdin reads it from standard input\n$/
      )
      assert.lengthOf(none.sent("name_autoregister"), 0)
      const piped = runWith(LOCKED, { passphrases: ["geheim"] })
      assert.strictEqual((yield* piped.run("register", "d/example", "-yes")).code, 0)
      assert.deepStrictEqual(piped.sent("walletpassphrase"), [["geheim", 60]])
      assert.lengthOf(piped.sent("walletlock"), 1)
    }))
})

describe("svcd-cli update", () => {
  it.effect("changes only what the flags name, and shows before and after", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run, sent } = runWith(OWNED, { prompt })
      const { stdout } = yield* run("update", "d/example", "-ip", "192.0.2.9")
      const value = "{\"ip\":\"192.0.2.9\",\"x\":[1.0,2]}"
      assert.deepStrictEqual(sent("name_update"), [
        ["d/example", hex(value), { nameEncoding: "utf8", valueEncoding: "hex", psbt: false }]
      ])
      assert.match(prompt.asked[0] ?? "", /Before\s+\{"ip":"192\.0\.2\.1",[^]*After[^]*\{"ip":"192\.0\.2\.9",/)
      assert.include(stdout, `Sent with the transaction ${TXID}`)
    }))

  it.effect.each(
    [
      [["update", "d/example"], "there is no new value"],
      [["update", "d/example", "-ip", "192.0.2.1"], "the value is unchanged"],
      [["update", "d/example", "-ip", "2001:db8::1"], "-ip: \"2001:db8::1\" is not an IPv4 address"],
      [["transfer", "d/example", "N1bad\u001b"], "is not an address of this network"]
    ] as const
  )("refuses %j", ([argv, expected]) =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ ...OWNED, validateaddress: { isvalid: false } })
      const { code, stderr } = yield* run(...argv, "-yes")
      assert.strictEqual(code, 1)
      assert.include(stderr, expected)
      assert.notInclude(stderr, "\u001b")
      assert.lengthOf(sent("name_update"), 0)
    }))

  it.effect.each(
    [
      [{ name_show: unknownName }, "is not registered"],
      [{ name_show: record("", { expires_in: 0 }) }, "has expired"],
      [{ name_show: record("", { ismine: false }) }, "belongs to another owner"],
      [{ name_pending: [{ op: "name_update" }] }, "waits for a block"]
    ] as const
  )("refuses a name that cannot be updated: %j", ([answers, expected]) =>
    Effect.gen(function*() {
      const { run } = runWith({ ...OWNED, ...answers })
      assert.include((yield* run("update", "d/example", "-value", "{}", "-yes")).stderr, expected)
    }))
})

describe("a value that changes while a question waits for its answer", () => {
  it.effect.each(
    [["update", "d/example", "-ip", "192.0.2.9"], ["transfer", "d/example", "N1other"]] as const
  )("is not overwritten: %j", (argv) =>
    Effect.gen(function*() {
      const values = ["{\"ip\":\"192.0.2.1\"}", "{\"ip\":\"192.0.2.2\"}"]
      const { run, sent } = runWith({ ...OWNED, name_show: () => record(values.shift() ?? "") }, {
        prompt: answering("y")
      })
      assert.match((yield* run(...argv)).stderr, /has changed in the meantime/)
      assert.lengthOf(sent("name_update"), 0)
    }))
})

describe("svcd-cli transfer", () => {
  it.effect("gives a name with its value to an address after a question", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run, sent } = runWith(OWNED, { prompt })
      yield* run("transfer", "example.bit", "N1other")
      assert.deepStrictEqual(sent("name_update"), [[
        "d/example",
        hex("{\"ip\":\"192.0.2.1\",\"x\":[1.0,2]}"),
        { nameEncoding: "utf8", valueEncoding: "hex", psbt: false, destAddress: "N1other" }
      ]])
      assert.match(prompt.asked[0] ?? "", /N1other[^]*lost for good/)
    }))
})

describe("svcd-cli renew", () => {
  const draft = {
    names: [{ name: hex("d/example"), state: "waiting", expires_in: 500, fee: 0.0005 }],
    transactions: 1,
    fee: 0.0005
  }
  const done = [{ name: hex("d/example"), state: "sent", txid: TXID }]
  const answers = {
    name_renew: (params: ReadonlyArray<unknown>) => JSON.stringify(params[1]).includes("dryrun") ? draft : done
  }

  it.effect("shows no time for a name that is not registered", () =>
    Effect.gen(function*() {
      const names = [{ name: hex("d/nix"), state: "skipped", expires_in: 0, note: "the name is not registered" }]
      const { run } = runWith({ name_renew: { names, transactions: 0 } })
      assert.match((yield* run("renew", "d/nix")).stdout, /\nd\/nix +– +the name is not registered\n/)
    }))

  it.effect.each(
    [
      [["renew", "example.bit"], [hex("d/example")]],
      [["renew", "-all"], "all"],
      [["renew", "-within", "4w"], 4_032]
    ] as const
  )("asks with the cost, and renews: %j", ([argv, names]) =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run, sent } = runWith(answers, { prompt })
      const { stdout } = yield* run(...argv)
      assert.deepStrictEqual(sent("name_renew"), [
        [names, { nameEncoding: "hex", dryrun: true }],
        // The names that were shown, even if others are due by then.
        [[hex("d/example")], { nameEncoding: "hex" }]
      ])
      assert.match(prompt.asked[0] ?? "", /d\/example\s+500 blocks\s+0\.0005[^]*1 transaction, 0\.0005 NMC/)
      assert.match(stdout, /^1 renewal is sent\./)
    }))

  it.effect("asks nothing where there is nothing to renew", () =>
    Effect.gen(function*() {
      const { run } = runWith({ name_renew: { names: [], transactions: 0 } })
      assert.deepStrictEqual(yield* run("renew", "-all"), {
        code: 0,
        stdout: "There is nothing to renew.\n",
        stderr: ""
      })
      assert.match((yield* run("renew")).stderr, /give names, or -all, or -within/)
      assert.match((yield* run("renew", "-all", "d/example")).stderr, /give names, or -all, or -within/)
    }))

  it.effect("says how many names it leaves out", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run } = runWith({
        name_renew: (params: ReadonlyArray<unknown>) =>
          JSON.stringify(params[1]).includes("dryrun") ? { ...draft, left_out: 2 } : done
      }, { prompt })
      yield* run("renew", "-all")
      assert.include(prompt.asked[0] ?? "", "\n2 names are left out: renewal is turned off for them.\n")
      assert.strictEqual(JSON.parse((yield* run("renew", "-all", "-yes", "-json")).stdout).left_out, 2)
      const none = runWith({ name_renew: { names: [], transactions: 0, left_out: 1 } })
      assert.strictEqual(
        (yield* none.run("renew", "-all")).stdout,
        "1 name is left out: renewal is turned off for it.\n" +
          "There is nothing else to renew. \"svcd-cli renew NAME\" renews a left-out name once.\n"
      )
      // For a script, too, names that are left out are not a failure, and a name that was given and is not renewed is one.
      for (const json of [[], ["-json"]]) {
        assert.strictEqual((yield* none.run("renew", "-within", "4w", ...json)).code, 0)
        assert.strictEqual((yield* none.run("renew", "d/example", ...json)).code, 1)
      }
    }))

  it("reads times", () => {
    assert.deepStrictEqual(["4w", "10d", "12h", "7", "0", "", "36001", "4y"].map(blocksWithin), [
      4_032,
      1_440,
      72,
      7,
      undefined,
      undefined,
      undefined,
      undefined
    ])
  })
})

describe("a private key in a wrong place", () => {
  it.effect.each([
    ["pay", "1.5", KEY, "-yes"],
    ["pay", KEY, KEY],
    ["pay", OWNER, KEY],
    ["transfer", KEY, "d/example"],
    ["update", KEY, "{}"],
    ["name", KEY],
    ["register", KEY],
    ["renew", KEY],
    ["renew", "-within", KEY],
    ["update", "d/example", "-ip", KEY],
    ["update", "d/example", "-ip6", HEX_KEY],
    ["update", "d/example", "-alias", `${KEY} `],
    ["update", "d/example", "-ns", WORDS],
    ["update", "d/example", "-file", KEY],
    ["update", "d/example", "-remove", KEY],
    ["update", "d/example", "-remove", WORDS]
  ])("is not repeated, and no daemon gets it: svcd-cli %s", (words) =>
    Effect.gen(function*() {
      const { daemon, run } = runWith(OWNED)
      const { code, stderr, stdout } = yield* run(...words)
      assert.notStrictEqual(code, 0)
      for (const secret of [KEY, HEX_KEY, WORDS]) {
        assert.notInclude((stderr + stdout).toLowerCase(), secret.slice(0, 8).toLowerCase())
        assert.notInclude(JSON.stringify(daemon), secret.slice(0, 8))
      }
    }))

  it.effect.each([
    [`-json=${KEY}`, "names"],
    [`-stdinrpcpass=${KEY}`, "getinfo"],
    ["-completions", KEY]
  ])("is not repeated where no daemon is asked: svcd-cli %s", (words) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* runAlone(words)
      assert.notStrictEqual(code, 0)
      assert.notInclude(stderr + stdout, KEY.slice(0, 8))
    }))
})

describe("svcd-cli pay and receive", () => {
  const PAYING = {
    validateaddress: { isvalid: true },
    walletcreatefundedpsbt: "{\"fee\":0.00022500}",
    sendtoaddress: JSON.stringify(TXID),
    getnewaddress: JSON.stringify(OWNER)
  }

  it("estimates fees at the highest known rate, and writes amounts without needless decimals", () => {
    assert.deepStrictEqual(nameCosts(80, []), { commitment: 22_500, operation: 50_000 })
    assert.deepStrictEqual(nameCosts(80, [undefined, 1_000, 300_000]), { commitment: 67_500, operation: 150_000 })
    assert.deepStrictEqual([0, 1, 150_000_000, 1_000_000].map(amountText), [
      "0 NMC",
      "0.00000001 NMC",
      "1.5 NMC",
      "0.01 NMC"
    ])
    assert.deepStrictEqual([72_500, 1, 0].map(aboutText), ["about 0.0008 NMC", "about 0.0001 NMC", "about 0 NMC"])
  })

  it.effect("asks with amount, fee and address", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const { run, sent } = runWith(PAYING, { prompt })
      const { stdout } = yield* run("pay", OWNER, "1.5", "-comment", "rent")
      assert.match(prompt.asked[0] ?? "", /Pay {2}1\.5 NMC\nTo {3}N1owner\nFee {2}about 0\.000225 NMC/)
      const [params] = sent("sendtoaddress")
      assert.strictEqual(JSON.stringify(params), JSON.stringify([OWNER, { text: "1.50000000" }, "rent"]))
      assert.include(stdout, TXID)
    }))

  it.effect("shows the whole address on a narrow terminal", () =>
    Effect.gen(function*() {
      const prompt = answering("y")
      const address = `N${"1".repeat(60)}`
      yield* runWith(PAYING, { prompt, columns: 30 }).run("pay", address, "1.5")
      assert.include(prompt.asked[0] ?? "", `To   ${address}\n`)
    }))

  it.effect("refuses more than the wallet can spend, without a question", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ ...PAYING, getbalances: "{\"mine\":{\"trusted\":1.00000000}}" })
      assert.match((yield* run("pay", OWNER, "1.5", "-yes")).stderr, /can spend 1 NMC.*svcd-cli receive/)
      assert.lengthOf(sent("sendtoaddress"), 0)
    }))

  it.effect("points to the command that shows the payment in words", () =>
    Effect.gen(function*() {
      assert.include((yield* runWith(PAYING).run("pay", OWNER, "1.5", "-yes")).stdout, `"svcd-cli tx ${TXID}" shows`)
      const paid = {
        confirmations: 0,
        fee: "FEE",
        comment: "rent\u001b[2J",
        details: [{ category: "send", address: OWNER, amount: "PAID", abandoned: false }]
      }
      const shown = (more: object) => {
        const answer = JSON.stringify({ ...paid, ...more }).replace("\"FEE\"", "-0.00022500").replace(
          "\"PAID\"",
          "-1.50000000"
        )
        const { run, sent } = runWith({ gettransaction: answer })
        return Effect.map(run("tx", TXID), ({ code, stdout }) => {
          assert.deepStrictEqual([code, sent("gettransaction")], [0, [[TXID]]])
          return stdout
        })
      }
      assert.strictEqual(
        yield* shown({}),
        `State    waits for a block\nPaid     1.5 NMC to ${OWNER}\nFee      0.000225 NMC\nComment  rent\\u001b[2J\n`
      )
      const inBlock = { confirmations: 3, blockheight: 700_001, blocktime: 1_800_000_000 }
      assert.match(yield* shown(inBlock), /^State +in block 700,001 of 2027-01-15, with 3 confirmations\n/)
      assert.match(yield* shown({ confirmations: -2 }), /^State +conflicted:/)
      assert.match(yield* shown({ replaced_by_txid: "cd" }), /^State +replaced by the transaction cd\n/)
      assert.match(yield* shown({ details: [{ ...paid.details[0], abandoned: true }] }), /^State +abandoned/)
      const ofNames = { details: [{ category: "send", name: "update: 'd/x'", amount: 0, abandoned: false }] }
      assert.match(yield* shown(ofNames), /\nName +update: 'd\/x'\n/)
    }))

  it.effect("does not repeat a private key in the place of the address, even with a slip in it", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ ...PAYING, validateaddress: { isvalid: false, error: "Invalid checksum" } })
      for (const key of [`c${"5".repeat(51)}`, `c${"5".repeat(40)}0${"5".repeat(10)}`]) {
        const { code, stderr } = yield* run("pay", key, "1.5", "-yes")
        assert.strictEqual(code, 1)
        assert.include(stderr, "it is hidden, because it may be a private key")
        assert.notInclude(stderr, "555")
      }
      assert.deepStrictEqual(sent("sendtoaddress"), [])
    }))

  it.effect("pays once, and says that it may have paid where no answer comes", () =>
    Effect.gen(function*() {
      const lost = new RpcUnreachable({ address: "127.0.0.1:8336", code: "ECONNRESET", wasSent: true })
      const { daemon, run } = runWith({ ...PAYING, sendtoaddress: lost })
      const { code, stderr } = yield* run("pay", OWNER, "1.5", "-yes")
      assert.strictEqual(code, 1)
      assert.match(stderr, /may have executed the call: check with "svcd-cli listtransactions"/)
      assert.deepStrictEqual(
        daemon.calls.filter(({ method }) => method === "sendtoaddress").map(({ once }) => once),
        [true]
      )
      const absent = new RpcUnreachable({ address: "127.0.0.1:8336", code: "ECONNREFUSED", wasSent: false })
      assert.match(
        (yield* runWith({ ...PAYING, sendtoaddress: absent }).run("pay", OWNER, "1.5", "-yes")).stderr,
        /is svcd running/
      )
    }))

  it.effect.each([
    { amount: "0", remedy: "The amount is zero. It must be above zero." },
    { amount: " -1", remedy: "The amount is negative. It must be above zero." },
    { amount: "1,5", remedy: "Use a decimal point and no commas, as in 1.5." },
    { amount: "0.000000001", remedy: "The amount has more than 8 decimals. The smallest amount is 0.00000001." },
    { amount: "21000001", remedy: "The amount exceeds the total supply of 21000000 NMC." },
    { amount: "1e30", remedy: "This is not an amount. Use digits and a decimal point only, as in 0.5." },
    { amount: "all", remedy: "This is not an amount. Use digits and a decimal point only, as in 0.5." }
  ])("refuses the amount $amount, and says why", ({ amount, remedy }) =>
    Effect.gen(function*() {
      const { run, sent } = runWith(PAYING)
      assert.strictEqual(
        (yield* run("pay", "-yes", OWNER, amount)).stderr,
        `error: the amount "${amount}" cannot be paid\n${remedy}\n`
      )
      assert.lengthOf(sent("sendtoaddress"), 0)
    }))

  it.effect("says what is wrong with an address", () =>
    Effect.gen(function*() {
      const validateaddress = { isvalid: false, error: "Invalid checksum" }
      const { run, sent } = runWith({ ...PAYING, validateaddress })
      const told = (...words: ReadonlyArray<string>) => Effect.map(run("pay", "-yes", ...words), ({ stderr }) => stderr)
      assert.strictEqual(
        yield* told("N1bad", "1"),
        "error: \"N1bad\" is not an address of this network: Invalid checksum\n"
      )
      assert.include(
        yield* told("d/example", "1"),
        "\nthat is a name: \"svcd-cli name d/example\" shows the address of its owner\n"
      )
      assert.strictEqual(
        yield* told("1.5", OWNER),
        `error: the address comes before the amount\nsvcd-cli pay "${OWNER}" 1.5\n`
      )
      assert.deepStrictEqual(JSON.parse(yield* told("N1bad", "1,5", "-json")), {
        error: {
          code: 1,
          message: "the amount \"1,5\" cannot be paid",
          remedy: "Use a decimal point and no commas, as in 1.5."
        }
      })
      assert.lengthOf(sent("sendtoaddress"), 0)
    }))

  it.effect("prints an address", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith(PAYING)
      assert.strictEqual((yield* run("receive", "shop")).stdout, `${OWNER}\n`)
      assert.deepStrictEqual(sent("getnewaddress"), [["shop"]])
      assert.deepStrictEqual(JSON.parse((yield* run("receive", "-json")).stdout), { address: OWNER, label: "" })
    }))

  it.effect("draws the address as a QR code on a terminal that is wide enough, and not with -json", () =>
    Effect.gen(function*() {
      const wide = yield* runWith(PAYING, { columns: 80 }).run("receive")
      const [address, ...lines] = wide.stdout.trimEnd().split("\n")
      assert.strictEqual(address, OWNER)
      const modules = lines.flatMap((line) => {
        const rows = [...line].map((block) => [" ▄".includes(block), " ▀".includes(block)] as const)
        return [rows.map(([upper]) => upper), rows.map(([, lower]) => lower)]
      })
      const expected = encodeQR(`namecoin:${OWNER}`, "raw", { ecc: "medium", border: 4 })
      assert.deepStrictEqual(modules.slice(0, expected.length), expected)
      assert.strictEqual((yield* runWith(PAYING, { columns: 20 }).run("receive")).stdout, `${OWNER}\n`)
      assert.notInclude((yield* runWith(PAYING, { columns: 80 }).run("receive", "-json")).stdout, "█")
    }))
})
