import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { secondsOf } from "../../../src/programs/cli/unlock.ts"
import type { RpcReason } from "../../../src/rpc/method/RpcError.ts"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { answering, runAlone, runWith } from "./commandRun.ts"
import { hex, inTurn } from "./fakeDaemon.ts"

const DAY = 86_400

const OPEN = { getwalletinfo: { walletname: "", private_keys_enabled: true } }
const LOCKED = { getwalletinfo: { walletname: "", private_keys_enabled: true, unlocked_until: 0 } }
const WRONG = new RpcFailure({ code: -14, message: "Error: The wallet passphrase entered was incorrect." })

const unlocks = (wallet: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>> = {}) => ({
  getwalletinfo: inTurn(LOCKED.getwalletinfo, { ...LOCKED.getwalletinfo, ...wallet }),
  walletpassphrase: "null",
  ...more
})

const waiting = (...left: ReadonlyArray<number>) => ({
  name_registrations: left.map((blocks, at) => ({
    name: hex(`d/n${at}`),
    value: "",
    step: "maturing",
    blocks_left: blocks
  }))
})

describe("svcd-cli unlock", () => {
  it.effect("asks for the passphrase without showing it, and unlocks for ten minutes", () =>
    Effect.gen(function*() {
      const prompt = answering("geheim")
      const { run, sent } = runWith(unlocks({ unlocked_until: 600 }), { prompt })
      assert.deepStrictEqual(yield* run("unlock"), {
        code: 0,
        stderr: "",
        stdout: "The wallet is unlocked for 10 minutes. \"svcd-cli lock\" locks it earlier.\n"
      })
      assert.deepStrictEqual(prompt.secrets, ["Passphrase of the wallet: "])
      assert.deepStrictEqual(sent("walletpassphrase"), [["geheim", 600, false]])
    }))

  it.effect("unlocks for renewals, a year without -for", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(0)
      const wallet = { unlocked_until: 365 * DAY, renewals_only: true }
      const { run, sent } = runWith(unlocks(wallet), { prompt: answering("geheim") })
      const { stdout } = yield* run("unlock", "-renewals")
      assert.match(
        stdout,
        /^The wallet is unlocked for renewals for 365 days, until 1971-01-01\. It signs nothing else/
      )
      assert.match(stdout, /after each restart of svcd/)
      assert.deepStrictEqual(sent("walletpassphrase"), [["geheim", 365 * DAY, true]])
      const month = runWith(unlocks(wallet), { prompt: answering("geheim") })
      yield* month.run("unlock", "-renewals", "-for", "30d")
      assert.deepStrictEqual(month.sent("walletpassphrase"), [["geheim", 30 * DAY, true]])
    }))

  it.effect("warns of a long unlock for everything, and names what continues after a short one", () =>
    Effect.gen(function*() {
      const long = runWith(unlocks({ unlocked_until: 30 * DAY }), { prompt: answering("geheim") })
      assert.match(
        (yield* long.run("unlock", "-for", "30d")).stdout,
        /can spend its coins. "svcd-cli unlock -renewals"/
      )
      const short = runWith(unlocks({ unlocked_until: 600, renewals_until: 90 * DAY }), { prompt: answering("geheim") })
      assert.match((yield* short.run("unlock")).stdout, /After that, it renews its names until 1970-04-01\.\n/)
    }))

  it.effect("says what it means for a registration that waits", () =>
    Effect.gen(function*() {
      for (
        const [argv, left, said] of [
          [["unlock"], [0], "The registration of d/n0 continues automatically now."],
          [
            ["unlock", "-for", "3h"],
            [12],
            "The registration of d/n0 continues automatically, in 12 blocks (about 2 hours)."
          ],
          [["unlock"], [12], "for everything, in 12 blocks (about 2 hours): \"svcd-cli unlock -for 3h\""],
          [
            ["unlock", "-renewals"],
            [0],
            "The registration of d/n0 needs the wallet unlocked for everything now: \"svcd-cli unlock\""
          ],
          [
            ["unlock", "-for", "3h"],
            [0, 5],
            "2 registrations, such as that of d/n0, continue automatically, in 5 blocks (about 50"
          ]
        ] as const
      ) {
        const { run } = runWith(unlocks({ unlocked_until: 600 }, waiting(...left)), { prompt: answering("geheim") })
        assert.include((yield* run(...argv)).stdout, said)
      }
    }))

  it.effect("counts to the second transaction of a registration, not to the block of the first", () =>
    Effect.gen(function*() {
      const committed = { name_registrations: [{ name: hex("d/n"), value: "", step: "committed", blocks_left: 1 }] }
      const { run } = runWith(unlocks({ unlocked_until: 600 }, committed), { prompt: answering("geheim") })
      assert.include(
        (yield* run("unlock")).stdout,
        "for everything, in 12 blocks (about 2 hours): \"svcd-cli unlock -for 3h\""
      )
    }))

  it.effect("asks again after a slip; a pipe has -stdin", () =>
    Effect.gen(function*() {
      const slip = runWith(unlocks({}, { walletpassphrase: inTurn(WRONG, WRONG, "null") }), {
        prompt: answering("a", "b", "geheim")
      })
      assert.strictEqual((yield* slip.run("unlock")).code, 0)
      const never = runWith(unlocks({}, { walletpassphrase: WRONG }), { prompt: answering("a", "b", "c", "d") })
      assert.strictEqual((yield* never.run("unlock")).stderr, "error: the passphrase is wrong; nothing was done\n")
      const pipe = runWith(unlocks({}))
      assert.match((yield* pipe.run("unlock")).stderr, /no terminal to ask for it.*\n-stdin reads it/)
      assert.deepStrictEqual(pipe.sent("walletpassphrase"), [])
      const given = runWith(unlocks({ unlocked_until: 600 }), { passphrases: ["geheim"] })
      assert.deepStrictEqual(JSON.parse((yield* given.run("unlock", "-json")).stdout), {
        unlocked_until: 600,
        renewals_only: false
      })
      const wrong = runWith(unlocks({}, { walletpassphrase: WRONG }), { passphrases: ["falsch"] })
      const { stderr } = yield* wrong.run("unlock")
      assert.notInclude(stderr, "falsch")
      assert.lengthOf(wrong.sent("walletpassphrase"), 1)
    }))

  it("reads times with a unit, and within the limit of the wallet", () => {
    assert.deepStrictEqual(["10m", "12h", "30d", "4w"].map(secondsOf), [600, 43_200, 30 * DAY, 28 * DAY])
    for (const text of ["", "0m", "10", "10s", "-5m", "1.5h", "5000d", "99999999d", "d", "10 m"]) {
      assert.isUndefined(secondsOf(text), text)
    }
  })

  it.effect("refuses an unknown time, and a wallet without a passphrase", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith(unlocks({}), { prompt: answering("geheim") })
      assert.match(
        (yield* run("unlock", "-for", "soon")).stderr,
        /-for: "soon" is not a duration such as 10m, 12h, 30d/
      )
      const open = runWith(OPEN, { prompt: answering("geheim") })
      for (const command of ["unlock", "lock"]) {
        assert.match((yield* open.run(command)).stderr, /is not encrypted: .*\n"svcd-cli encrypt" encrypts it\n$/)
      }
      assert.deepStrictEqual([...sent("walletpassphrase"), ...open.sent("walletlock")], [])
    }))
})

describe("svcd-cli lock", () => {
  it.effect("locks, and says that renewals end", () =>
    Effect.gen(function*() {
      const { run, sent } = runWith({ ...LOCKED, walletlock: "null" })
      assert.match(
        (yield* run("lock")).stdout,
        /^The wallet is locked\. It renews no names until .*unlock -renewals"\n$/
      )
      assert.deepStrictEqual(JSON.parse((yield* run("lock", "-json")).stdout), { unlocked_until: 0 })
      assert.lengthOf(sent("walletlock"), 2)
    }))
})

describe("svcd-cli encrypt", () => {
  const NEW = { ...OPEN, encryptwallet: "\"wallet encrypted\"" }

  it.effect("asks twice, without showing the passphrase, and says what to do next", () =>
    Effect.gen(function*() {
      const prompt = answering("geheim", "geheim")
      const { run, sent } = runWith(NEW, { prompt })
      const { code, stdout } = yield* run("encrypt")
      assert.strictEqual(code, 0)
      for (const next of ["Write the passphrase down", "svcd-cli unlock -renewals", "svcd-cli backup FILE"]) {
        assert.include(stdout, next)
      }
      assert.deepStrictEqual(prompt.secrets, prompt.asked)
      assert.lengthOf(prompt.asked, 2)
      assert.deepStrictEqual(sent("encryptwallet"), [["geheim"]])
    }))

  it.effect("asks again after a slip or an empty answer, three times at most", () =>
    Effect.gen(function*() {
      const prompt = answering("geheim", "gehiem", "", "geheim", "geheim")
      const slip = runWith(NEW, { prompt })
      assert.strictEqual((yield* slip.run("encrypt")).code, 0)
      assert.deepStrictEqual(prompt.asked.filter((question) => /^T?hey|^The/.test(question)), [
        "They differ. Type the new passphrase of the wallet: ",
        "The passphrase must not be empty. Type the new passphrase of the wallet: "
      ])
      const never = runWith(NEW, { prompt: answering("a", "b", "a", "b", "a", "b", "a", "a") })
      assert.strictEqual((yield* never.run("encrypt")).stderr, "error: the passphrases differ; nothing was done\n")
      const left = runWith(NEW, { prompt: answering("a") })
      assert.strictEqual((yield* left.run("encrypt")).stderr, "error: no passphrase was given; nothing was done\n")
      assert.deepStrictEqual([...never.sent("encryptwallet"), ...left.sent("encryptwallet")], [])
    }))

  it.effect("is clear about a wallet that is encrypted, or has nothing to encrypt", () =>
    Effect.gen(function*() {
      for (
        const [wallet, argv, said] of [
          [LOCKED, ["encrypt"], /encrypted already\n"svcd-cli encrypt -change" replaces its passphrase/],
          [OPEN, ["encrypt", "-change"], /is not encrypted/],
          [{ getwalletinfo: { private_keys_enabled: false } }, ["encrypt"], /watch-only/]
        ] as const
      ) {
        const { run, sent } = runWith(wallet, { prompt: answering("a", "a") })
        const { code, stderr } = yield* run(...argv)
        assert.deepStrictEqual([code, sent("encryptwallet")], [1, []])
        assert.match(stderr, said)
      }
    }))

  it.effect("replaces the passphrase, and asks for the old one alone if that was wrong", () =>
    Effect.gen(function*() {
      const prompt = answering("new", "new", "slip", "old")
      const { run, sent } = runWith({ ...LOCKED, walletpassphrasechange: inTurn(WRONG, "null") }, { prompt })
      assert.match((yield* run("encrypt", "-change")).stdout, /has the new passphrase/)
      assert.deepStrictEqual(sent("walletpassphrasechange"), [["slip", "new"], ["old", "new"]])
      const pipe = runWith({ ...LOCKED, walletpassphrasechange: "null" }, { passphrases: ["old", "new"] })
      assert.strictEqual((yield* pipe.run("encrypt", "-change")).code, 0)
      assert.deepStrictEqual(pipe.sent("walletpassphrasechange"), [["old", "new"]])
      const none = runWith(NEW)
      assert.match((yield* none.run("encrypt")).stderr, /-stdin reads it from standard input/)
    }))
})

describe("svcd-cli backup", () => {
  const DONE = { ...OPEN, backupwallet: "null" }

  it.effect("gives the daemon a whole path, and says where the copy is and who can open it", () =>
    Effect.gen(function*() {
      const here = runWith(DONE)
      const { stdout } = yield* here.run("backup", "copy.json")
      assert.match(stdout, /^The wallet was copied to \/home\/test\/work\/copy\.json\.\n.*is not encrypted/)
      assert.deepStrictEqual(here.sent("backupwallet"), [["/home/test/work/copy.json"]])
      const there = runWith({ ...DONE, ...LOCKED }, { rpc: { host: "192.0.2.1", port: 8336 } })
      assert.match(
        (yield* there.run("backup", "/media/copy.json")).stdout,
        /copied to \/media\/copy\.json, on the machine of the daemon at 192\.0\.2\.1:8336\.\n.*with the passphrase/
      )
      assert.match((yield* there.run("backup", "copy.json")).stderr, /another machine.*\ngive the whole path/)
      assert.lengthOf(there.sent("backupwallet"), 1)
      assert.deepStrictEqual(JSON.parse((yield* here.run("backup", "/x", "-json")).stdout), {
        path: "/x",
        encrypted: false
      })
    }))

  it.effect("names the reason of a failure and what to do", () =>
    Effect.gen(function*() {
      const failing = (reason: RpcReason, message: string) =>
        Effect.map(
          runWith({ ...OPEN, backupwallet: new RpcFailure({ code: -4, message, reason }) }).run("backup", "/a b.json"),
          ({ stderr }) => stderr
        )
      const wrapped = "Error: Wallet backup failed! writing /a b.json failed: "
      assert.strictEqual(
        yield* failing("file-exists", `${wrapped}/a b.json exists already`),
        "error: the wallet was not copied: /a b.json exists already\na backup replaces no file: give another name\n"
      )
      assert.strictEqual(
        yield* failing("disk-full", `${wrapped}the disk is full; make room and start again`),
        "error: the wallet was not copied: the disk is full\nmake room there, or give a path on another disk\n"
      )
      assert.match(
        yield* failing("file-refused", `${wrapped}permission denied`),
        /permission denied\nthe daemon writes the file: give a path where its user may write/
      )
    }))
})

describe("svcd-cli autorenew", () => {
  const SET = { name_autorenew: { all: false, names: [] }, ...OPEN }

  it.effect("sets one name or all, and says so", () =>
    Effect.gen(function*() {
      for (
        const [argv, params, said] of [
          [
            ["autorenew", "example.bit", "on"],
            ["d/example", true],
            "renews d/example automatically, before it expires"
          ],
          [["autorenew", "-all", "on"], [null, true], "The wallet renews all its names automatically"],
          [["autorenew", "d/x", "off"], ["d/x", false], "\"svcd-cli renew d/x\" renews it."],
          [["autorenew", "off", "-all"], [null, false], "no longer renews all its names automatically"]
        ] as const
      ) {
        const { run, sent } = runWith(SET)
        assert.include((yield* run(...argv)).stdout, said)
        assert.deepStrictEqual(sent("name_autorenew"), [[...params, { nameEncoding: "utf8" }]])
      }
      const some = runWith({ ...SET, name_autorenew: { all: false, names: [{ name: "d/x" }] } })
      assert.match(
        (yield* some.run("autorenew", "-all", "off")).stdout,
        /It still renews d\/x, which you turned on by name/
      )
      const locked = runWith({ ...SET, ...LOCKED })
      assert.match((yield* locked.run("autorenew", "-all", "on")).stdout, /is locked: "svcd-cli unlock -renewals"/)
      assert.notMatch((yield* locked.run("autorenew", "-all", "off")).stdout, /is locked/)
      assert.deepStrictEqual(JSON.parse((yield* locked.run("autorenew", "d/x", "on", "-json")).stdout), {
        name: "d/x",
        on: true,
        all: false
      })
    }))

  it.effect("changes nothing without a name or a setting", () =>
    Effect.gen(function*() {
      for (const argv of [["on"], ["d/x", "-all", "on"]]) {
        const { run, sent } = runWith(SET)
        assert.match((yield* run("autorenew", ...argv)).stderr, /give a name or -all, and on or off/)
        assert.deepStrictEqual(sent("name_autorenew"), [])
      }
      assert.match((yield* runAlone(["autorenew", "d/x"])).stderr, /autorenew: takes NAME\|-all on\|off/)
    }))
})

describe("svcd-cli cancel", () => {
  const registration = (txid: string) => ({ name_registrations: [{ name: "d/x", value: "", step: "committed", txid }] })
  const SENT = "ab".repeat(32)

  it.effect("says what was cancelled, and what becomes of the money", () =>
    Effect.gen(function*() {
      for (
        const [answers, said] of [
          [
            { ...registration(SENT), name_cancel: { cancelled: "registration" } },
            /The 0\.01 NMC .* "svcd-cli register d\/x"/
          ],
          [
            { ...registration("0".repeat(64)), name_cancel: { cancelled: "registration" } },
            /Nothing was sent or paid\./
          ],
          [
            { ...registration(SENT), name_cancel: { cancelled: "renewal" } },
            /^The renewal of d\/x is cancelled: it was not/
          ],
          // An older svcd answers nothing.
          [{ ...registration(SENT), name_cancel: "null" }, /^The registration of d\/x is cancelled/]
        ] as const
      ) {
        const { run, sent } = runWith(answers)
        const { code, stdout } = yield* run("cancel", "x.bit")
        assert.strictEqual(code, 0)
        assert.match(stdout, said)
        assert.deepStrictEqual(sent("name_cancel"), [["d/x", { nameEncoding: "utf8" }]])
      }
    }))

  it.effect("gives the daemon's reason if nothing can be cancelled", () =>
    Effect.gen(function*() {
      const reason = "no registration of this name is under way"
      const { run } = runWith({ name_cancel: new RpcFailure({ code: -4, message: reason }) })
      assert.deepStrictEqual(yield* run("cancel", "d/x"), { code: 4, stdout: "", stderr: `error: ${reason}\n` })
    }))
})

describe("-stdin with a command", () => {
  const read = (text: string) => Effect.succeed(text)

  it.effect("takes the passphrase alone, and shows nothing of it", () =>
    Effect.gen(function*() {
      const one = yield* runAlone(["-stdin", "unlock"], read("geheim\nmehr\n"))
      assert.deepStrictEqual(
        [one.code, one.stderr],
        [2, "svcd-cli: -stdin: unlock takes one line, the passphrase, and standard input has 2 lines\n"]
      )
      const two = yield* runAlone(["-stdin", "encrypt", "-change"], read("geheim\n"))
      assert.match(
        two.stderr,
        /takes the old passphrase and the new one, each on a line, and standard input has 1 line/
      )
    }))

  it.effect("is refused where no passphrase can be needed, or standard input has the value, before it is read", () =>
    Effect.gen(function*() {
      assert.match((yield* runAlone(["-stdin", "names"])).stderr, /-stdin: names reads nothing from standard input/)
      for (const argv of [["update", "d/x", "-file", "-"], ["seed", "check", "-"]]) {
        assert.match((yield* runAlone(["-stdin", ...argv])).stderr, /-stdin: standard input is read already/)
      }
    }))
})
