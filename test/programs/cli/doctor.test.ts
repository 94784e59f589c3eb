import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { UserRight } from "../../../src/config/accessKinds.ts"
import type { Daemon } from "../../../src/programs/cli/daemon.ts"
import { doctorCommand } from "../../../src/programs/cli/doctor.ts"
import { machineChecks, remedyOf, sqliteCheck } from "../../../src/programs/cli/doctorMachine.ts"
import { type RpcClientError, RpcUnreachable, UnexpectedReply } from "../../../src/rpc/RpcClient.ts"
import { inputOf } from "../../config/input.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { fakeDaemon, hex } from "./fakeDaemon.ts"

const RENEWS = { state: "renews", urgency: "ok", text: "renews automatically" }

/** Later than any clock of a test: the tip is young. */
const YOUNG = 4_102_444_800

const WELL = {
  getblockchaininfo: { chain: "main", blocks: 10, headers: 10, time: YOUNG, initialblockdownload: false, warnings: [] },
  getsyncstatus: { phase: "ready", percent: 100, headers: 10, window: null },
  getnetworkinfo: { subversion: "/svcd:1.2.3/", connections: 4, networkactive: true, warnings: [] },
  getpeerinfo: [{ timeoffset: 1 }, { timeoffset: -2 }, { timeoffset: 0 }, { timeoffset: 9_000 }],
  getcheckinfo: { missing_blocks: 0, doubts: [], notices: [] },
  listwebhooks: [],
  listwallets: [""],
  getwalletinfo: { phrase_kept: true, phrase_checked: 1_700_000_000 },
  name_list: [{ name: hex("d/mine"), value: "", expires_in: 20_000, ismine: true, outlook: RENEWS }],
  name_autorenew: { all: true, names: [] },
  name_pending: [],
  name_registrations: [],
  name_expiring: { names: [] },
  getbalances: "{\"mine\":{\"trusted\":1.00000000}}"
}

const doctor = (
  daemon: Daemon,
  { dataDir = "/nowhere", files = {}, json = true, wallet }: {
    readonly dataDir?: string
    readonly wallet?: string
    readonly json?: boolean
    readonly files?: Readonly<Record<string, string>>
  } = {}
) =>
  doctorCommand({
    connection: {
      network: "mainnet",
      networkFrom: undefined,
      dataDir,
      rpc: { host: "127.0.0.1", port: 8336, credentials: undefined },
      cookieFile: "/data/.cookie",
      rpcAddrFrom: "default"
    },
    daemon,
    input: {
      ...inputOf([], { files }),
      readFile: (path) =>
        path.endsWith(".cookie")
          ? Either.left({ why: "cannot be read: permission denied", isForbidden: true })
          : Either.right(files[path]),
      screen: { terminal: false, columns: undefined, colours: false },
      version: "1.2.3"
    },
    json,
    resolver: undefined,
    wallet
  })

/** The checks of a node that are not in order, each with its state. */
const complaints = (answers: object) =>
  Effect.map(doctor(fakeDaemon({ ...WELL, ...answers })), ({ stdout }) => {
    const { checks }: { readonly checks: ReadonlyArray<Readonly<Record<string, string>>> } = JSON.parse(stdout)
    return checks.filter(({ check, state }) =>
      state !== "ok" && !["datadir", "cookie", "secp256k1"].includes(check ?? "")
    )
      .map(({ check, state }) => `${state} ${check}`)
  })

const mine = (expires_in: number, state: string, urgency: string) => ({
  name_list: [{
    name: hex("d/mine"),
    value: "",
    expires_in,
    ismine: true,
    outlook: { state, urgency, text: `is ${state}` }
  }]
})

/** The answer to a user without a right, which the daemon names or not. */
const forbidden = (missingRight?: UserRight) =>
  new UnexpectedReply({ address: "127.0.0.1:8336", status: 403, reason: "status 403", missingRight })

describe("svcd-cli doctor", () => {
  it.effect("finds nothing wrong with a node that is well", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* complaints({}), [])
    }))

  it.effect("names the right that is missing for what it could not look at, and still finds the rest", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* complaints({ listwebhooks: forbidden("admin") }), ["skip rights"])
      const wallet = ["getwalletinfo", "name_list", "name_autorenew", "listwallets"]
      const names = Object.fromEntries(
        [...wallet, "name_registrations", "name_expiring"].map((one) => [one, forbidden("names")])
      )
      const reader = { ...WELL, ...names, listwebhooks: forbidden("admin"), listwalletdir: forbidden("admin") }
      const { code, stdout } = yield* doctor(fakeDaemon(reader), { json: false })
      assert.strictEqual(code, 0)
      assert.include(
        stdout,
        "skip  not checked: the wallets: their backup, renewals and registrations"
      )
      assert.include(
        stdout,
        "may not call getwalletinfo, listwallets, name_autorenew, name_expiring, name_list"
      )
      assert.include(stdout, "grant the RPC user the right \"names\" (-rpcrights)")
      assert.include(stdout, "skip  not checked: webhooks, and wallets that are not loaded. This RPC user")
      assert.include(stdout, "Some checks were skipped.\n")
      const { skipped }: { readonly skipped: number } = JSON.parse((yield* doctor(fakeDaemon(reader))).stdout)
      assert.strictEqual(skipped, 2)
      const stranger = yield* doctor(fakeDaemon({ ...WELL, getblockchaininfo: forbidden("read") }), { json: false })
      assert.strictEqual(stranger.code, 1)
      assert.include(
        stranger.stdout,
        "does not allow this RPC user to call getblockchaininfo, so it was not checked"
      )
      assert.include(stranger.stdout, "grant the RPC user the right \"read\"")
      const answers = { listwebhooks: forbidden("admin"), getnetworkinfo: { subversion: "/svcd:0.1.0(x)/" } }
      assert.deepStrictEqual(yield* complaints(answers), ["warn version", "skip rights"])
      const broken = new UnexpectedReply({ address: "127.0.0.1:8336", status: 500, reason: "status 500" })
      assert.include(yield* complaints({ listwebhooks: broken }), "fail daemon")
    }))

  it.effect.each<readonly [why: string, answers: object, expected: ReadonlyArray<string>]>([
    ["another version", { getnetworkinfo: { ...WELL.getnetworkinfo, subversion: "/svcd:0.1.0(x)/" } }, [
      "warn version"
    ]],
    ["another program", { getnetworkinfo: { ...WELL.getnetworkinfo, subversion: "/Satoshi:31.1/" } }, ["warn version"]],
    ["no peers", { getnetworkinfo: { ...WELL.getnetworkinfo, connections: 0 } }, ["fail peers"]],
    ["no network", { getnetworkinfo: { ...WELL.getnetworkinfo, networkactive: false } }, ["fail peers"]],
    ["no peers where none are wanted, and an old tip", {
      getsyncstatus: { ...WELL.getsyncstatus, offline: true },
      getnetworkinfo: { ...WELL.getnetworkinfo, connections: 0 },
      getblockchaininfo: { ...WELL.getblockchaininfo, time: -20_000 }
    }, []],
    ["a slow clock", { getpeerinfo: [{ timeoffset: 90 }, { timeoffset: 80 }, { timeoffset: 70 }] }, ["warn clock"]],
    ["a wrong clock", { getpeerinfo: [-7_200, -7_200, -7_200].map((timeoffset) => ({ timeoffset })) }, ["fail clock"]],
    ["few clocks", { getpeerinfo: [{ timeoffset: 9_000 }] }, []],
    ["a sync", { getsyncstatus: { phase: "blocks", percent: 5, window: null } }, ["warn sync"]],
    ["an old tip", { getblockchaininfo: { ...WELL.getblockchaininfo, time: -20_000 } }, ["warn sync"]],
    ["damage", { getcheckinfo: { doubts: [{ what: "names.db", reason: "page 7" }] } }, ["fail data"]],
    [
      "a notice once, though it is a warning too",
      {
        getcheckinfo: { notices: [{ what: "disk space", reason: "low" }] },
        getblockchaininfo: { ...WELL.getblockchaininfo, warnings: ["disk space: low"] }
      },
      ["warn data"]
    ],
    ["a notice", { getcheckinfo: { notices: [{ what: "disk space", reason: "low" }] } }, ["warn data"]],
    ["missing blocks", { getcheckinfo: { missing_blocks: 3 } }, ["warn data"]],
    ["a warning", { getblockchaininfo: { ...WELL.getblockchaininfo, warnings: ["fork"] } }, ["warn warning"]],
    ["a dead webhook", { listwebhooks: [{ id: "w1", state: "dead" }] }, ["fail webhooks"]],
    ["no backup", { getwalletinfo: { phrase_kept: false } }, ["warn backup"]],
    ["words that were not checked", { getwalletinfo: { walletname: "w", phrase_kept: true } }, ["warn backup"]],
    ["renewals by hand", { name_autorenew: { all: false, names: [] } }, ["warn autorenew"]],
    ["four weeks", { ...mine(4_000, "by-hand", "notice"), name_autorenew: { all: false, names: [] } }, [
      "warn renewals",
      "warn autorenew"
    ]],
    ["a week", { ...mine(1_000, "by-hand", "alarm"), name_autorenew: { all: false, names: [] } }, [
      "fail renewals",
      "warn autorenew"
    ]],
    ["a name that the owner switched off", {
      ...mine(9_000, "by-hand", "ok"),
      name_autorenew: { all: true, names: [], except: [{ name: hex("d/mine") }] }
    }, ["warn autorenew"]],
    ["a name that the owner switched off while names are renewed by hand", {
      ...mine(9_000, "by-hand", "ok"),
      name_autorenew: { all: false, names: [], except: [{ name: hex("d/mine") }] }
    }, ["warn autorenew"]],
    ["a lock", mine(1_900, "locked", "alarm"), ["fail renewals"]],
    ["a lock long before", mine(9_000, "locked", "notice"), ["warn renewals"]],
    ["no coins", mine(1_900, "no-coins", "alarm"), ["fail renewals"]],
    ["a lost name", mine(-3, "free", "alarm"), ["fail lost"]],
    ["a name that was lost long ago", mine(-40_000, "free", "notice"), []],
    ["a name that was given away", mine(900, "given", "ok"), []],
    ["one that waits", mine(900, "pending", "ok"), []],
    [
      "a registration",
      { getwalletinfo: { unlocked_until: 0 }, name_registrations: [{ name: hex("d/n"), step: "maturing" }] },
      ["warn registrations"]
    ],
    ["a wallet that is not loaded", { listwalletdir: { wallets: [{ name: "" }, { name: "w2" }] } }, ["warn wallet"]],
    ["no wallet", { listwallets: [], getwalletinfo: undefined }, []],
    [
      "a watched name",
      { name_expiring: { names: [{ name: hex("d/w"), expires_in: 500, mine: false }] } },
      ["warn watched"]
    ]
  ])("finds %s", ([, answers, expected]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* complaints(answers), [...expected])
    }))

  it.effect("prints the command for a name that is switched off as it works", () =>
    Effect.gen(function*() {
      const remedyOf = (name: string) =>
        Effect.map(
          doctor(
            fakeDaemon({
              ...WELL,
              name_list: [{ name: hex(name), value: "", expires_in: 9_000, ismine: true }],
              name_autorenew: { all: true, names: [], except: [{ name: hex(name) }] }
            }),
            { json: false }
          ),
          ({ stdout }) => stdout
        )
      assert.include(yield* remedyOf("d/mine"), "\"svcd-cli autorenew d/mine on\"")
      assert.include(yield* remedyOf("d/it's"), String.raw`"svcd-cli autorenew 'd/it'\''s' on"`)
    }))

  it.effect("looks at every loaded wallet, and names it in what it says and in the remedy", () =>
    Effect.gen(function*() {
      const shop = {
        ...WELL,
        listwallets: ["", "shop"],
        getwalletinfo: { walletname: "shop", phrase_kept: false },
        ...mine(900, "by-hand", "alarm")
      }
      const daemon = (name: string): Daemon => ({
        ...fakeDaemon(name === "shop" ? { ...shop, name_autorenew: { all: false, names: [] } } : WELL),
        ofWallet: (other) => Effect.sync(() => daemon(other))
      })
      const both = { ...WELL, listwallets: ["", "shop"], getwalletinfo: undefined, name_list: undefined }
      const several = { ...fakeDaemon(both), ofWallet: (name: string) => Effect.sync(() => daemon(name)) }
      const { stdout } = yield* doctor(several, { json: false })
      assert.include(stdout, "ok    \"\" (wallet.json): the seed phrase of the wallet was verified\n")
      assert.include(stdout, "warn  \"shop\": the seed phrase of the wallet was never shown")
      assert.include(stdout, "\"svcd-wallet export --wallet shop --phrase\"")
      assert.include(stdout, "fail  \"shop\": d/mine is by-hand")
      assert.include(stdout, "\"svcd-cli -rpcwallet shop renew d/mine\"")
      const json = yield* doctor(several)
      const { checks }: { readonly checks: ReadonlyArray<Readonly<Record<string, string>>> } = JSON.parse(json.stdout)
      const told = checks.filter(({ check }) => check === "backup").map(({ state, wallet }) => [wallet, state])
      assert.deepStrictEqual(told, [["", "ok"], ["shop", "warn"]])
      // The wallet that -rpcwallet names is the only one.
      const one = yield* doctor({ ...daemon("shop"), ofWallet: () => Effect.die("another wallet") }, {
        json: false,
        wallet: "shop"
      })
      assert.include(one.stdout, "\"svcd-cli -rpcwallet shop renew d/mine\"")
    }))

  it.effect("fails for a wallet of -rpcwallet that is not loaded, and says what it could not look at", () =>
    Effect.gen(function*() {
      const told = (answers: object, wallet: string) =>
        doctor(fakeDaemon({ ...WELL, ...answers }), { json: false, wallet })
      const none = yield* told({}, "nosuch")
      assert.strictEqual(none.code, 1)
      assert.include(
        none.stdout,
        "fail  wallet \"nosuch\" is not loaded and was not checked\n      choose a loaded wallet with -rpcwallet"
      )
      const stored = yield* told({ listwalletdir: { wallets: [{ name: "nosuch" }] } }, "nosuch")
      assert.include(stored.stdout, "load it: \"svcd-cli loadwallet nosuch\"")
      assert.include((yield* told({ listwallets: [] }, "nosuch")).stdout, "\"svcd-cli listwalletdir\" lists")
      const refused = yield* told({ getwalletinfo: forbidden("names") }, "")
      assert.include(refused.stdout, "may not call getwalletinfo\n      grant the RPC user the right \"names\"")
      assert.deepStrictEqual(yield* complaints({ getwalletinfo: forbidden("names") }), ["skip rights"])
    }))

  it.effect("writes the name of a wallet as the shell wants it", () =>
    Effect.gen(function*() {
      const answers = { ...WELL, listwalletdir: { wallets: [{ name: "" }, { name: "it's mine" }] } }
      const { stdout } = yield* doctor(fakeDaemon(answers), { json: false })
      assert.include(stdout, "is not loaded, so it renews no names: \"it's mine\"\n")
      assert.include(stdout, "\"svcd-cli loadwallet 'it'\\''s mine' true\" loads it, now and at each start")
    }))

  it.effect("checks the machine without a daemon, and ends with status 1", () =>
    Effect.gen(function*() {
      const gone: Effect.Effect<never, RpcClientError> = new RpcUnreachable({
        address: "127.0.0.1:8336",
        code: "ECONNREFUSED",
        wasSent: false
      })
      const { code, stdout } = yield* doctor({ ...fakeDaemon({}), ask: () => gone }, { json: false })
      assert.strictEqual(code, 1)
      assert.match(stdout, /^ok {4}Node\.js/)
      assert.match(stdout, /\nwarn {2}there is no data directory \/nowhere\n {6}svcd creates it/)
      assert.match(stdout, /\nwarn {2}\/data\/\.cookie cannot be read: permission denied\n/)
      assert.match(stdout, /\nfail {2}cannot reach a daemon at 127\.0\.0\.1:8336: connection refused\n {6}start svcd/)
      assert.match(stdout, /\n1 check failed, 2 warnings\.\n$/)
    }))

  it.scopedLive("looks at the permissions of the data directory and the wallet", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      chmodSync(directory, 0o755)
      writeFileSync(join(directory, "wallet.json"), "{}", { mode: 0o600 })
      mkdirSync(join(directory, "wallets"), { mode: 0o700 })
      writeFileSync(join(directory, "wallets", "shop.json"), "{}")
      chmodSync(join(directory, "wallets", "shop.json"), 0o644)
      const checks = yield* machineChecks({ dataDir: directory, network: "mainnet" }, inputOf([]))
      const open = checks.filter(({ state }) => state === "warn").map(({ remedy }) => remedy)
      assert.includeMembers(open, [`chmod go= ${directory}`, `chmod go= ${join(directory, "wallets", "shop.json")}`])
      const stateOf = (name: string) => checks.find(({ check }) => check === name)?.state
      assert.deepStrictEqual(["sqlite", "owner", "datadir", "walletfile"].map(stateOf), ["ok", "ok", "warn", "ok"])
      const file = yield* machineChecks(
        { dataDir: join(directory, "wallet.json"), network: "mainnet" },
        inputOf([])
      )
      assert.strictEqual(file.find(({ check }) => check === "datadir")?.state, "fail")
    }))

  it.effect("looks at svcd.conf, and says whether mail is sent before names expire", () =>
    Effect.gen(function*() {
      const linesWith = (conf: string) =>
        Effect.map(
          doctor(fakeDaemon(WELL), { json: false, files: { "/nowhere/svcd.conf": conf } }),
          ({ stdout }) => stdout
        )
      const half = yield* linesWith("alertmail = [\"me@example.org\"]\n")
      assert.match(half, /\nfail {2}-alertmail: needs -alertmailserver.*\n {6}svcd would not start/)
      const server = "smtps://me:s3cret@mail.example.org"
      const whole = yield* linesWith(`alertmail = ["me@example.org"]\nalertmailserver = "${server}"\n`)
      assert.match(whole, /\nok {4}mail before names expire goes to 1 address; "svcd-cli testalertmail" sends a test\n/)
      assert.notInclude(whole, "s3cret")
      assert.notInclude(yield* linesWith(""), "mail")
    }))

  it("the remedy for a directory that cannot be used depends on the reason", () => {
    assert.match(remedyOf("EACCES"), /sudo -u USER/)
    assert.strictEqual(remedyOf("EROFS"), "mount it writable, or use another directory, with -datadir")
  })

  it("a missing native part has one remedy, that of the programs", () => {
    const { remedy, text } = sqliteCheck(
      Object.assign(new Error("Cannot find module '/x.node'"), { code: "MODULE_NOT_FOUND" })
    )
    assert.deepStrictEqual([text, remedy], [
      `the native part of better-sqlite3 for ${process.platform} on ${process.arch} is missing`,
      "install svcd again, or compile it with \"npm explore better-sqlite3 -- npm run build-release\" where the package has none; " +
      "neither svcd nor svcd-wallet can start without it"
    ])
    assert.match(sqliteCheck(new Error("x")).remedy, /^reinstall svcd with the same Node\.js;/)
  })

  it.effect("reports svcd.conf of another user, and goes on", () =>
    Effect.gen(function*() {
      const input = {
        ...inputOf([]),
        readFile: () => Either.left({ why: "cannot be read: permission denied", isForbidden: true })
      }
      const checks = yield* machineChecks({ dataDir: "/nowhere", network: "mainnet" }, input)
      assert.deepStrictEqual(checks.filter(({ check }) => check === "settings"), [{
        check: "settings",
        state: "fail",
        text: "/nowhere/svcd.conf cannot be read: permission denied",
        remedy: "run it as the user of the node (sudo -u USER …), or name another directory with -datadir"
      }])
    }))

  it.effect("reads svcd.conf for the network of the node", () =>
    Effect.gen(function*() {
      const files = { "/nowhere/svcd.conf": "fastprune = true\n" }
      const stateOn = (network: "mainnet" | "regtest") =>
        Effect.map(
          machineChecks({ dataDir: "/nowhere", network }, inputOf([], { files })),
          (checks) => checks.filter(({ check }) => check === "settings").map(({ state }) => state)
        )
      assert.deepStrictEqual([yield* stateOn("regtest"), yield* stateOn("mainnet")], [["ok"], ["fail"]])
    }))
})
