import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { namesCommand, type NamesCommandOptions } from "../../../src/programs/cli/names.ts"
import { widthOf } from "../../../src/programs/cli/textWidth.ts"
import { fakeDaemon, hex } from "./fakeDaemon.ts"

const NOW = 1_800_000_000

const PIPE = { terminal: false, columns: undefined, colours: false }

const owned = (name: string, expires_in: number, more: object = {}) => ({
  name: hex(name),
  name_encoding: "hex",
  value: hex(`value of ${name}`),
  value_encoding: "hex",
  txid: "ab".repeat(32),
  vout: 1,
  address: "N1",
  ismine: true,
  height: 5,
  expires_in,
  expired: expires_in <= 0,
  ...more
})

const ANSWERS = {
  getblockchaininfo: { chain: "main" },
  name_list: [
    owned("d/late", 35_000),
    owned("d/soon", 4_032),
    owned("id/now", 900),
    owned("d/lost", 0),
    owned("d/sold", 20_000, { ismine: false }),
    // Its owner may have renewed it, which this wallet does not see.
    owned("d/soldlongago", -9, { ismine: false })
  ],
  name_pending: [
    { name: hex("d/soon"), value: hex("new"), op: "name_update", txid: "cd".repeat(32), ismine: true },
    { name: hex("d/foreign"), value: hex("x"), op: "name_update", txid: "ef".repeat(32), ismine: false }
  ],
  name_registrations: [
    { name: hex("d/next"), value: hex("v"), step: "maturing", note: "block 700000 can hold it", time: NOW },
    { name: hex("d/had"), value: hex("v"), step: "done", time: NOW },
    { name: hex("d/failed"), step: "failed", note: "another was faster", time: NOW - 29 * 86_400 },
    { name: hex("d/oldfailure"), step: "failed", time: NOW - 31 * 86_400 }
  ]
}

const shown = (
  answers: Readonly<Record<string, unknown>>,
  options: Partial<NamesCommandOptions> = {},
  screen: Parameters<typeof namesCommand>[1] = PIPE
) =>
  Effect.zipRight(
    TestClock.setTime(NOW * 1000),
    namesCommand(fakeDaemon(answers), screen, { prefix: "", all: false, expiring: undefined, json: false, ...options })
  )

describe("svcd-cli names", () => {
  it.effect("lists names to renew first, unconfirmed operations, and registrations", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* shown(ANSWERS),
        `NAME       EXPIRES IN  ABOUT       VALUE
id/now     900 blocks  2027-01-21  value of id/now
d/soon   4,032 blocks  2027-02-12  value of d/soon
d/late  35,000 blocks  2027-09-15  value of d/late

Pending
NAME    OPERATION     TRANSACTION                                                       VALUE
d/soon  value change  ${"cd".repeat(32)}  new

Registrations
NAME      STEP      NOTE                      VALUE
d/next    maturing  block 700000 can hold it  v
d/failed  failed    another was faster

1 name expires within four weeks; "svcd-cli renew NAME" renews one.
Not shown: d/lost (expired), 2 given away; -all shows them.
`
      )
    }))

  it.effect("advises to renew only names that the wallet does not renew", () =>
    Effect.gen(function*() {
      assert.notInclude(yield* shown({ ...ANSWERS, name_autorenew: { all: true, names: [] } }), "renew NAME")
      const byHand = yield* shown({ ...ANSWERS, name_autorenew: { all: false, names: [] } })
      assert.include(byHand, "1 name expires within four weeks; \"svcd-cli renew NAME\" renews one.")
    }))

  it.effect("shows renewals that are not sent, with the reason", () =>
    Effect.gen(function*() {
      const name_renewals = [
        { name: hex("d/late"), state: "waiting", time: NOW },
        { name: hex("d/soon"), state: "sent", txid: "cd".repeat(32), time: NOW },
        { name: hex("id/now"), state: "done", time: NOW },
        { name: hex("d/lost"), state: "skipped", note: "the name has expired", time: NOW - 29 * 86_400 },
        { name: hex("d/old"), state: "skipped", note: "long ago", time: NOW - 31 * 86_400 }
      ]
      const text = yield* shown({ ...ANSWERS, name_renewals })
      assert.include(
        text,
        `
Unsent renewals
NAME    STATE    NOTE
d/late  waiting  is sent after one of the next blocks
d/lost  skipped  the name has expired

Registrations
`
      )
      assert.include(yield* shown({ ...ANSWERS, name_renewals }, { all: true }), "d/old   skipped  long ago")
      const settled = name_renewals.map((each) => each.state === "skipped" ? { ...each, settled: true } : each)
      assert.notInclude(yield* shown({ ...ANSWERS, name_renewals: settled }), "the name has expired")
      assert.notInclude(yield* shown({ ...ANSWERS, name_renewals }, { expiring: 1_000 }), "Renewals that")
      const { renewals } = JSON.parse(yield* shown({ ...ANSWERS, name_renewals }, { json: true }))
      assert.deepInclude(renewals[1], { name: "d/lost", state: "skipped", note: "the name has expired" })
      assert.lengthOf(renewals, 2)
    }))

  it.effect("shows everything with -all", () =>
    Effect.gen(function*() {
      const text = yield* shown(ANSWERS, { all: true })
      assert.match(text, /^d\/lost +expired +value/m)
      assert.match(text, /^d\/sold +given away/m)
      assert.include(text, "d/oldfailure")
      assert.notInclude(text, "d/had")
      assert.notInclude(text, "Not shown")
    }))

  it.effect("accepts a prefix, and a bounded number of blocks", () =>
    Effect.gen(function*() {
      const text = yield* shown(ANSWERS, { prefix: "id/" })
      assert.include(text, "id/now")
      assert.notInclude(text, "d/late")
      assert.notInclude(text, "Waiting")
      const expiring = yield* shown(ANSWERS, { expiring: 4_032 })
      assert.include(expiring, "d/soon ")
      assert.notMatch(expiring, /Waiting|Registrations|Not shown|d\/late/)
      assert.notInclude(yield* shown(ANSWERS, { expiring: 4_031 }), "d/soon ")
      assert.strictEqual(yield* shown(ANSWERS, { expiring: 1 }), "No name expires within 1 block.\n")
      assert.strictEqual(yield* shown(ANSWERS, { prefix: "x/" }), "The wallet has no names with this prefix.\n")
    }))

  it.effect("reads a prefix as people type names", () =>
    Effect.gen(function*() {
      for (const prefix of ["late", "Late", "late.bit", "www.late.bit", "d/Late", "d/la", "0x642f6c"]) {
        const text = yield* shown(ANSWERS, { prefix })
        assert.match(text, /^d\/late /m, prefix)
        assert.notInclude(text, "d/soon ", prefix)
      }
      assert.match(yield* shown(ANSWERS, { prefix: "now" }), /^id\/now /m)
      const domains = yield* shown(ANSWERS, { prefix: "d/" })
      assert.include(domains, "d/late")
      assert.notInclude(domains, "id/now")
    }))

  it.effect("shows no dates on a chain without regular blocks, and works without methods that Core lacks", () =>
    Effect.gen(function*() {
      const text = yield* shown({ getblockchaininfo: { chain: "regtest" }, name_list: [owned("d/a", 20)] })
      assert.match(text, /^NAME {2}EXPIRES IN {2}VALUE\nd\/a +20 blocks {2}value of d\/a\n/)
      assert.notInclude(text, "expires within")
      const last = yield* shown({ getblockchaininfo: { chain: "regtest" }, name_list: [owned("d/a", 5)] })
      assert.include(last, "1 name expires within 5 blocks")
      const core = yield* shown({ name_list: [] })
      assert.strictEqual(core, "The wallet has no names. \"svcd-cli name_new NAME\" begins a registration.\n")
      const none = yield* shown({ name_list: [], name_autorenew: { all: false, names: [] } })
      assert.strictEqual(none, "The wallet has no names. \"svcd-cli register NAME\" registers one.\n")
    }))

  it.effect("shows which names the wallet renews, where the daemon says so", () =>
    Effect.gen(function*() {
      const told = (state: string, urgency: string) => ({ outlook: { state, urgency, text: `is ${state}` } })
      const list = {
        name_list: [
          owned("d/auto", 30_000, told("renews", "ok")),
          owned("d/hand", 31_000, told("by-hand", "ok")),
          owned("d/lost", 0, told("free", "alarm"))
        ]
      }
      const some = { ...list, name_autorenew: { all: false, names: [{ name: hex("d/auto") }] } }
      const text = yield* shown(some, { all: true })
      assert.match(text, /RENEWAL +VALUE\n/)
      assert.match(text, /^d\/auto .* auto +value/m)
      assert.match(text, /^d\/hand .* by hand +value/m)
      assert.match(text, /^d\/lost +expired +lost, free +value/m)
      const hint = "\"svcd-cli autorenew NAME on\" renews a name automatically, " +
        "\"svcd-cli autorenew -all on\" all names of the wallet"
      assert.include(text, `${hint}.`)
      const off = { all: false, names: [], except: [{ name: hex("d/hand") }] }
      assert.include(yield* shown({ ...list, name_autorenew: off }), `${hint}, including those you turned off.`)
      const all = yield* shown({ ...list, name_autorenew: { all: true, names: [] } })
      assert.notInclude(all, "autorenew")
      const but = yield* shown({ ...list, name_autorenew: { all: true, names: [], except: [{ name: hex("d/auto") }] } })
      assert.notInclude(but, "-all on")
      const { names } = JSON.parse(yield* shown(some, { json: true }))
      assert.deepStrictEqual(names.map((each: { autorenew: boolean }) => each.autorenew), [true, false])
    }))

  it.effect("never says \"auto\" of a name that the wallet cannot renew, warns of it, and of a lost one", () =>
    Effect.gen(function*() {
      const told = (state: string, more: object = {}) => ({
        outlook: { state, urgency: "alarm", text: `is ${state}`, ...more }
      })
      const name_list = [
        owned("d/shut", 900, told("locked")),
        owned("d/poor", 901, told("no-coins")),
        owned("d/cold", 902, told("unsigned")),
        owned("d/lost", -3, told("free")),
        owned("d/gone", -4, told("taken", { acknowledged: true }))
      ]
      const text = yield* shown({ name_list, name_autorenew: { all: true, names: [] } })
      assert.notInclude(text, "auto ")
      assert.match(text, /^d\/shut .* locked +value/m)
      assert.match(text, /^d\/poor .* no coins +value/m)
      const warnings = text.split("\n").filter((line) => line.startsWith("Warning:"))
      assert.deepStrictEqual(warnings, [
        "Warning: d/lost is free: \"svcd-cli register d/lost\" registers it; \"svcd-cli dismiss d/lost\" ends this warning",
        "Warning: d/shut is locked: \"svcd-cli unlock -renewals\" unlocks the wallet for renewals",
        "Warning: d/poor is no-coins: \"svcd-cli receive\" creates an address to fund the wallet",
        "Warning: d/cold is unsigned: \"svcd-cli name_renewals\" shows its PSBT: sign it on the other machine, " +
        "and send it with \"svcd-cli sendpsbt PSBT\""
      ])
      assert.include(text, "Not shown: d/gone, d/lost (expired); -all shows them.")
      // Without the daemon's judgement, only the setting is known.
      const syncing = yield* shown({ name_list: [owned("d/a", 900)], name_autorenew: { all: true, names: [] } })
      assert.match(syncing, /^d\/a .* on +value/m)
    }))

  it.effect("reminds of words that were never shown, where coins have a value", () =>
    Effect.gen(function*() {
      const wallet = (phrase_kept: boolean) => ({ ...ANSWERS, getwalletinfo: { walletname: "", phrase_kept } })
      const reminder = "\nWarning: the seed phrase of the wallet was never shown"
      assert.include(yield* shown(wallet(false)), reminder)
      assert.notInclude(yield* shown(wallet(true)), "Warning")
      assert.notInclude(yield* shown(wallet(false), { expiring: 900 }), "Warning")
      assert.notInclude(yield* shown({ ...wallet(false), getblockchaininfo: { chain: "regtest" } }), "Warning")
    }))

  it.effect("escapes control characters, and fits the terminal", () =>
    Effect.gen(function*() {
      const evil = "d/\u001b]0;title\u0007\u202e\n名前"
      const text = yield* shown(
        { name_list: [owned(evil, 100), { ...owned("d/bytes", 200), value: "ff00" }, owned("d/x", 300)] },
        {},
        { terminal: true, columns: 60, colours: false }
      )
      for (const line of text.split("\n")) assert.isFalse(/[\p{Cc}\p{Cf}]/u.test(line), line)
      for (const line of text.split("\n").slice(0, 4)) assert.isAtMost(widthOf(line), 60)
      assert.include(text, "0xff00")
    }))

  it.effect("shows a domain in another script beside its name, where that is safe", () =>
    Effect.gen(function*() {
      const list = [owned("d/xn--zrich-kva", 900), owned("d/xn--80ak6aa92e", 950)]
      const text = yield* shown({ ...ANSWERS, name_list: list })
      assert.match(text, /^d\/xn--zrich-kva \(zürich\.bit\) +900 blocks/m)
      assert.match(text, /^d\/xn--80ak6aa92e +950 blocks/m)
      const { names } = JSON.parse(yield* shown({ ...ANSWERS, name_list: list }, { json: true }))
      assert.strictEqual(names[0].name, "d/xn--zrich-kva")
    }))

  it.effect("marks urgent names on a screen with colours", () =>
    Effect.gen(function*() {
      const list = { name_list: [owned("d/a", 1_008), owned("d/b", 1_009), owned("d/c", 4_033)] }
      const text = yield* shown(list, {}, { terminal: true, columns: 100, colours: true })
      assert.include(text, "\u001b[31md/a")
      assert.include(text, "\u001b[33md/b")
      assert.match(text, /^d\/c/m)
    }))

  it.effect("prints JSON for programs", () =>
    Effect.gen(function*() {
      const text = yield* shown({ ...ANSWERS, name_list: [{ ...owned("d/a", 10), value: "ff" }] }, { json: true })
      const { names, pending, registrations } = JSON.parse(text)
      assert.deepStrictEqual(names, [{
        name: "d/a",
        name_hex: hex("d/a"),
        value: null,
        value_hex: "ff",
        expires_in: 10,
        expired: false,
        ismine: true,
        height: 5,
        txid: "ab".repeat(32),
        vout: 1,
        address: "N1",
        expires_about: NOW + 6_000
      }])
      assert.lengthOf(pending, 1)
      assert.deepInclude(registrations[0], { name: "d/next", step: "maturing", note: "block 700000 can hold it" })
    }))
})
