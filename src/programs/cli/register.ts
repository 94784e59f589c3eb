import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { MIN_NAME_AMOUNT } from "../../consensus/names.ts"
import { aboutText, amountText } from "../../protocol/amount.ts"
import type { Json } from "../../rpc/json/json.ts"
import { RPC_CODE } from "../../rpc/method/RpcError.ts"
import type { RpcClientError } from "../../rpc/RpcClient.ts"
import { UNSENT_TXID } from "../../rpc/shapes/name.ts"
import { lintWarnings } from "../../values/lint.ts"
import { ask } from "./ask.ts"
import type { OwnContext } from "./commandContext.ts"
import { agreed, spend, wholeOn } from "./confirm.ts"
import { affordable, balanceOf, costsOf } from "./costs.ts"
import { type Daemon, isAway } from "./daemon.ts"
import { at, indented, numberAt, objectOf, objectsOf, textAt } from "./jsonText.ts"
import { knowingly, noteRows, readingSurprises, readWord, valueSurprises } from "./nameHints.ts"
import { nameState, ONE_NAME } from "./nameRecord.ts"
import { type CliOutcome, CommandFailed, success } from "./outcome.ts"
import { withKeys } from "./passphrase.ts"
import { labelled } from "./table.ts"
import { shownText } from "./textWidth.ts"
import { requestedValue } from "./valueFlags.ts"
import { acceptable, roomText, valueLines, valueReport } from "./valueReport.ts"
import { waitingOn } from "./waiting.ts"

const UTF8 = new TextEncoder()

/** Blocks from NAME_NEW to the first possible NAME_FIRSTUPDATE. */
const DEPTH = 12

const PAUSE = "2 seconds"

const whenThere = <A>(asked: Effect.Effect<A, RpcClientError>): Effect.Effect<A | undefined, RpcClientError> =>
  Effect.catchIf(asked, isAway, () => Effect.succeed(undefined))

const progressOf = (
  daemon: Daemon,
  registration: Json
): Effect.Effect<{ readonly share: number; readonly facts: string }, RpcClientError> =>
  Effect.gen(function*() {
    const step = textAt(registration, "step")
    const steps = DEPTH + 2
    if (step === "revealed") return { share: (DEPTH + 1) / steps, facts: "waits for the block of the name" }
    const txid = textAt(registration, "txid")
    if (isUnsent(txid)) return { share: 0, facts: shownText(textAt(registration, "note") ?? "waits for a block") }
    const sent = yield* ask(daemon, "gettransaction", [txid ?? ""])
    const depth = Math.max(0, Math.min(DEPTH, numberAt(sent, "confirmations") ?? 0))
    const note = textAt(registration, "note") ?? ""
    return {
      share: depth / steps,
      // Once mature, the wallet says what else the name waits for, such as an unlock.
      facts: depth === DEPTH && note !== ""
        ? shownText(note)
        : `block ${depth} of ${DEPTH} before the name can be shown`
    }
  })

/** Waits for a block before its first transaction is sent. */
const isUnsent = (txid: string | undefined): boolean => txid === UNSENT_TXID

const waitForName = (
  { daemon, input }: Pick<OwnContext, "daemon" | "input">,
  { name, txid }: { readonly name: string; readonly txid: string | undefined }
): Effect.Effect<void, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const waiting = waitingOn(input)
    yield* Effect.addFinalizer(() => waiting.end)
    let share = 0
    for (;;) {
      const answer = yield* whenThere(daemon.ask("name_registrations", { options: ONE_NAME }))
      if (answer === undefined) {
        waiting.show({ share, facts: "waits for the daemon to return" })
        yield* Clock.sleep(PAUSE)
        continue
      }
      const all = objectsOf(answer)
      // A registration that waited for a block has a txid once sent.
      const registration = all.find((each) => textAt(each, "txid") === txid) ??
        (isUnsent(txid)
          ? all.find((each) => textAt(each, "name") === name && at(each, "value_encoding") !== undefined)
          : undefined)
      const step = textAt(registration, "step")
      if (registration === undefined || step === "failed") {
        const why = textAt(registration, "note") ?? "it was cancelled"
        return yield* new CommandFailed({ message: `the registration has failed: ${shownText(why)}` })
      }
      if (step === "done") return
      const doing = yield* whenThere(progressOf(daemon, registration))
      if (doing !== undefined) {
        share = doing.share
        waiting.show(doing)
      }
      yield* Clock.sleep(PAUSE)
    }
  }).pipe(Effect.scoped)

const free = (daemon: Daemon, name: string): Effect.Effect<void, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const state = yield* nameState(daemon, name)
    if (state !== undefined && state.expiresIn > 0) {
      const owner = state.mine === true ? "this wallet owns it" : "another owner has it"
      const next = state.mine === true
        ? `"${daemon.cli} update ${name}" changes it`
        : `"${daemon.cli} name ${name}" shows it`
      return yield* new CommandFailed({ message: `${name} is registered already, and ${owner}; ${next}` })
    }
    const pending = objectsOf(yield* ask(daemon, "name_pending", [name, ONE_NAME]))
    if (pending.some((each) => at(each, "ismine") !== true)) {
      return yield* new CommandFailed({
        message: `another registration of ${name} waits for a block; nothing was done`,
        remedy: `"${daemon.cli} name ${name}" shows it`
      })
    }
  })

/** Refuses a name whose registration the node already runs: the node's own error has other causes, too. */
const notUnderWay = (daemon: Daemon, name: string): Effect.Effect<void, RpcClientError | CommandFailed> =>
  Effect.flatMap(
    ask(daemon, "name_registrations", { options: ONE_NAME }),
    (answer) =>
      objectsOf(answer).some((each) =>
          // A manual commitment has no value: the node does not continue it.
          textAt(each, "name") === name && at(each, "value_encoding") !== undefined &&
          !["done", "failed"].includes(textAt(each, "step") ?? "")
        )
        ? new CommandFailed({
          message: `${name} is already being registered`,
          remedy: `"${daemon.cli} registrations" shows its progress`
        })
        : Effect.void
  )

/** Blocks until the name can be revealed, and the one with the name. */
const BLOCKS = DEPTH + 1

interface Begun extends Pick<Daemon, "cli"> {
  readonly name: string
  readonly isEncrypted: boolean
  readonly dated: boolean
  readonly isQueued: boolean
}

const nextText = ({ cli, dated, isEncrypted, isQueued, name }: Begun): string =>
  `${
    isQueued
      ? `The registration of ${name} waits for a block, as do earlier transactions of the wallet. Then it takes `
      : `The registration of ${name} has started. It takes `
  }${dated ? `${BLOCKS} blocks, about two hours` : `${BLOCKS} blocks`}, and the node completes it automatically.\n` +
  (isEncrypted
    ? `The wallet must then be unlocked for a moment: "${cli} unlock"\n`
    : "") +
  `"${cli} registrations" shows its progress.\n`

export const registerCommand = (
  { daemon, input, line }: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { prompt } = input
    const screen = wholeOn(input.screen)
    const { host, surprises: read, text: name } = yield* readWord(line.words[0])
    const surprises = valueSurprises(read, line)
    const json = line.wants("json")
    yield* free(daemon, name)
    const value = (yield* requestedValue({ name, host, before: "", line, input })) ?? ""
    const owner = line.text("owner")
    const asked = line.text("renew")
    if (owner !== undefined && asked !== undefined && line.wants("renew")) {
      return yield* new CommandFailed({
        message: "-renew cannot be combined with -owner: a wallet renews only its own names"
      })
    }
    // Always sent, so that the wallet does what the question shows, whatever the node's -autorenew is.
    const autorenew = owner === undefined && (asked === undefined || line.wants("renew"))

    const valueBytes = UTF8.encode(value)
    const report = valueReport(name, valueBytes)
    if (!line.wants("force")) {
      const isMisread = surprises.length === readingSurprises({ surprises }).length
      const remedy = isMisread
        ? `give exactly ${shownText(name)} if you mean this name`
        : `add -force to register ${shownText(name)} anyway`
      yield* knowingly(line, { surprises, remedy })
    }
    yield* acceptable({ value, report, line })
    const { commitment, operation } = yield* costsOf(daemon, UTF8.encode(name).length + valueBytes.length)
    const balance = yield* balanceOf(daemon)
    yield* affordable(daemon, { balance, cost: MIN_NAME_AMOUNT + commitment + operation })
    const preview = [
      ...labelled([
        ["Register", name],
        ...(owner === undefined ? [] : [["For", owner] as const]),
        [
          "Cost",
          `${amountText(MIN_NAME_AMOUNT)} locked in the name, and fees of ${aboutText(commitment + operation)}`
        ],
        ...(balance === undefined ? [] : [["Balance", amountText(balance)] as const]),
        ["Renewal", autorenew ? "by the wallet, before the name expires" : "by hand"],
        ...noteRows(surprises),
        ["Value", roomText(report)]
      ], screen),
      ...valueLines(value, report, screen)
    ].join("\n")
    const said = yield* agreed(prompt, { preview, question: "Register it?", yes: line.wants("yes") })
    const dated = textAt(yield* ask(daemon, "getblockchaininfo"), "chain") !== "regtest"
    const isEncrypted = numberAt(yield* ask(daemon, "getwalletinfo"), "unlocked_until") !== undefined
    const begun = yield* withKeys(
      { daemon, input },
      spend(daemon, "name_autoregister", [name, Buffer.from(valueBytes).toString("hex"), {
        ...ONE_NAME,
        ...(owner === undefined ? { autorenew } : { destAddress: owner })
      }])
    ).pipe(
      Effect.tapError((error) =>
        error._tag === "RpcFailure" && error.code === RPC_CODE.verifyError ? notUnderWay(daemon, name) : Effect.void
      )
    )
    const txid = textAt(begun, "txid")
    if (line.wants("wait")) yield* waitForName({ daemon, input }, { name, txid })
    if (json) {
      const warnings = lintWarnings(name, valueBytes)
      return success(`${
        indented(objectOf({
          name,
          value,
          txid: isUnsent(txid) ? undefined : txid,
          step: line.wants("wait") ? "done" : at(begun, "step"),
          autorenew: at(begun, "autorenew"),
          warnings
        }))
      }\n`)
    }
    const end = line.wants("wait")
      ? `${shownText(name)} is registered.\n`
      : nextText({ cli: daemon.cli, name: shownText(name), isEncrypted, dated, isQueued: isUnsent(txid) })
    return success(`${said === "" ? "" : `${said}\n`}${end}`)
  })
