import { assert, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { indented } from "../../../src/programs/cli/jsonText.ts"
import { gatherStatus, statusJson, statusText } from "../../../src/programs/cli/status.ts"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { answering, runWith } from "./commandRun.ts"
import { hex, inTurn } from "./fakeDaemon.ts"
import { FREE, record, TXID, unknownName } from "./someNames.ts"

/** With several wallets, a command without `-rpcwallet` fails or is about another one: every remedy names the wallet. */

const WALLET = "cold box"
const CLI = "svcd-cli -rpcwallet 'cold box'"

const OPEN = { walletname: WALLET, private_keys_enabled: true }
const LOCKED = { ...OPEN, unlocked_until: 0 }
const NEEDS_KEYS = new RpcFailure({
  code: -13,
  message: "Please enter the wallet passphrase with walletpassphrase first."
})
const PENDING = [{ name: "d/example", op: "name_update", ismine: true }]
const WAITING = [{ name: hex("d/next"), value: hex("v"), step: "maturing", blocks_left: 0, time: 0 }]
const LIST = [
  { name: hex("d/soon"), value: hex("v"), expires_in: 100, ismine: true },
  { name: hex("d/lost"), value: hex("v"), expires_in: 0, ismine: true }
]
const POOR = { ...FREE, getbalances: "{\"mine\":{\"trusted\":0.00000001}}" }

/** Command lines, the answers of the daemon, and how often the output names svcd-cli. */
const CASES: ReadonlyArray<readonly [line: string, answers: Readonly<Record<string, unknown>>]> = [
  ["unlock", { getwalletinfo: OPEN }],
  ["unlock", { getwalletinfo: LOCKED, walletpassphrase: "null", name_registrations: WAITING }],
  ["unlock -renewals", { getwalletinfo: LOCKED, walletpassphrase: "null", name_registrations: WAITING }],
  ["unlock -for 30d", { getwalletinfo: LOCKED, walletpassphrase: "null" }],
  ["lock", { getwalletinfo: LOCKED, walletlock: "null" }],
  ["encrypt", { getwalletinfo: OPEN, encryptwallet: "\"\"" }],
  ["encrypt", { getwalletinfo: LOCKED }],
  ["encrypt -change", { getwalletinfo: LOCKED, walletpassphrasechange: "null" }],
  ["autorenew d/example on", { name_autorenew: { all: false }, getwalletinfo: LOCKED }],
  ["autorenew d/example off", { name_autorenew: { all: false } }],
  ["autorenew -all off", { name_autorenew: { all: false, names: ["d/example"] } }],
  ["cancel d/example", { name_cancel: { cancelled: "renewal" } }],
  ["cancel d/example", { name_cancel: { cancelled: "registration" }, name_registrations: [] }],
  ["names", {
    name_list: LIST,
    name_autorenew: { all: false, names: [] },
    getwalletinfo: { ...OPEN, phrase_kept: false }
  }],
  ["names", { name_list: [], name_registrations: WAITING }],
  ["registrations", { name_registrations: [] }],
  ["register d/example -yes", { ...FREE, getwalletinfo: LOCKED, walletpassphrase: "null", walletlock: "null" }],
  ["register d/example -yes", POOR],
  ["register d/example -yes", { ...FREE, name_show: record("v") }],
  ["update d/example -yes -value {}", { name_show: record("{}") }],
  ["update d/example -yes -value {}", { name_show: record("v"), name_update: `"${TXID}"` }],
  ["update d/example -yes -value {}", { name_show: record("v"), name_update: NEEDS_KEYS, getwalletinfo: OPEN }],
  ["update d/example -yes -value {}", { name_show: record("v"), name_pending: PENDING }],
  ["update d/example -yes -value {}", { name_show: record("v", { expires_in: -1 }) }],
  ["update d/example -yes -value {}", { name_show: record("v", { ismine: false }) }],
  ["transfer d/example mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r -yes", {
    name_show: record("v"),
    name_update: `"${TXID}"`,
    validateaddress: { isvalid: true }
  }],
  ["name d/example", { name_show: unknownName }],
  ["name d/example", { name_show: record("v"), name_autorenew: { all: false, names: [] } }],
  ["seed check", { getwalletinfo: { ...OPEN, phrase_kept: true } }]
]

it.effect.each(CASES)("the remedies of %s name the wallet", ([line, answers]) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(0)
    const prompt = line === "seed check"
      ? answering()
      : answering("geheim and long", "geheim and long", "geheim and long")
    const { run } = runWith(answers, { prompt, wallet: WALLET })
    const { stderr, stdout } = yield* run(...line.split(" "))
    const said = stdout + stderr
    assert.include(said, `"${CLI} `)
    assert.strictEqual(said.replaceAll(CLI, "").match(/svcd-cli/)?.[0], undefined, said)
  }))

const statusOf = (answers: Readonly<Record<string, unknown>>) => {
  const { daemon } = runWith({ getblockchaininfo: { chain: "main" }, listwallets: ["", WALLET], ...answers }, {
    wallet: WALLET
  })
  const connection = {
    networkFrom: undefined,
    network: "mainnet" as const,
    dataDir: "/data",
    rpc: { host: "127.0.0.1", port: 8336, credentials: undefined },
    cookieFile: undefined,
    rpcAddrFrom: "default"
  }
  return Effect.map(gatherStatus(daemon), (found) => ({
    text: statusText(found, connection, { terminal: false, columns: undefined, colours: false }),
    json: indented(statusJson(found))
  }))
}

it.effect("status warns of a registration that waits for a locked wallet, with the command", () =>
  Effect.gen(function*() {
    yield* TestClock.setTime(1_000_000)
    const getbalances = "{\"mine\":{\"trusted\":1.00000000}}"
    const locked = yield* statusOf({ getbalances, getwalletinfo: LOCKED, name_registrations: WAITING })
    assert.include(
      locked.text,
      `Warning: the registration of d/next waits until the wallet is unlocked: "${CLI} unlock" unlocks it`
    )
    assert.include(locked.json, "\"registrations_locked\": 1")
    const renewing = { ...LOCKED, unlocked_until: 2_000, renewals_only: true }
    const two = [...WAITING, { ...WAITING[0], name: hex("d/more") }]
    const some = yield* statusOf({ getbalances, getwalletinfo: renewing, name_registrations: two })
    assert.include(some.text, "Warning: 2 registrations, such as that of d/next, wait until the wallet is unlocked")
    const quiet = [
      { getwalletinfo: { ...LOCKED, unlocked_until: 2_000 }, name_registrations: WAITING },
      { getwalletinfo: OPEN, name_registrations: WAITING },
      { getwalletinfo: LOCKED, name_registrations: [{ ...WAITING[0], blocks_left: 3 }] },
      { getwalletinfo: LOCKED, name_registrations: [{ ...WAITING[0], value: undefined }] },
      { getwalletinfo: LOCKED, name_registrations: [{ ...WAITING[0], step: "revealed" }] }
    ]
    for (const answers of quiet) assert.notInclude((yield* statusOf({ getbalances, ...answers })).text, "registration")
  }))

it.effect("status names the wallet of an alert, also wallet.json beside others", () =>
  Effect.gen(function*() {
    const alert = (wallet: string) => ({
      name: hex("d/a"),
      wallet,
      outlook: undefined,
      state: "locked",
      urgency: "alarm",
      text: "is locked"
    })
    const alerts = { name_alerts: inTurn({ names: [alert(""), alert(WALLET)], complete: true }) }
    const { text } = yield* statusOf(alerts)
    assert.include(text, "\"svcd-cli -rpcwallet '' unlock -renewals\"")
    assert.include(text, `"${CLI} unlock -renewals"`)
    const alone = yield* statusOf({ ...alerts, listwallets: [""] })
    assert.include(alone.text, "\"svcd-cli unlock -renewals\"")
  }))
