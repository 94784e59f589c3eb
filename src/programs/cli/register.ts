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
import { agreed, spend, wholeOn, withKeys } from "./confirm.ts"
import { affordable, balanceOf, costsOf } from "./costs.ts"
import { type Daemon, isAway } from "./daemon.ts"
import { at, indented, numberAt, objectOf, objectsOf, textAt } from "./jsonText.ts"
import { newNameBy } from "./nameHints.ts"
import { nameState, ONE_NAME } from "./nameRecord.ts"
import { type CliOutcome, CommandFailed, NAME, success } from "./outcome.ts"
import { labelled } from "./table.ts"
import { shownText } from "./textWidth.ts"
import { requestedValue } from "./valueFlags.ts"
import { acceptable, roomText, valueLines, valueReport } from "./valueReport.ts"
import { waitingOn } from "./waiting.ts"

/** `svcd-cli register`: registers a name, after a question with its value and cost. */

const UTF8 = new TextEncoder()

/** Blocks from NAME_NEW to the first that can hold NAME_FIRSTUPDATE. */
const DEPTH = 12

/** Seconds between two questions while it waits. */
const PAUSE = "2 seconds"

/** A question to a daemon that may restart meanwhile: `undefined` while it is away. */
const whenThere = <A>(asked: Effect.Effect<A, RpcClientError>): Effect.Effect<A | undefined, RpcClientError> =>
  Effect.catchIf(asked, isAway, () => Effect.succeed(undefined))

/** What a registration has come to: a share from 0 to 1, and a sentence. */
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
      // With all blocks there, the wallet says what else the name waits for: that the owner unlocks it, for instance.
      facts: depth === DEPTH && note !== ""
        ? shownText(note)
        : `block ${depth} of ${DEPTH} before the name can be shown`
    }
  })

/** Whether a registration waits for a block before its first transaction is sent. */
const isUnsent = (txid: string | undefined): boolean => txid === UNSENT_TXID

/** Waits for the end of a registration, even across restarts of the daemon. */
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
      // One that waited for a block has its txid since it was sent.
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

/** The name must be free. */
const free = (daemon: Daemon, name: string): Effect.Effect<void, RpcClientError | CommandFailed> =>
  Effect.flatMap(nameState(daemon, name), (state) => {
    if (state === undefined || state.expiresIn <= 0) return Effect.void
    const owner = state.mine === true ? "this wallet owns it" : "another owner has it"
    const next = state.mine === true ? `"${NAME} update ${name}" changes it` : `"${NAME} name ${name}" shows it`
    return new CommandFailed({ message: `${name} is registered already, and ${owner}; ${next}` })
  })

/** Fails if the node does the registration of a name already, which it refuses with an error that has other causes too. */
const notUnderWay = (daemon: Daemon, name: string): Effect.Effect<void, RpcClientError | CommandFailed> =>
  Effect.flatMap(
    ask(daemon, "name_registrations", { options: ONE_NAME }),
    (answer) =>
      objectsOf(answer).some((each) =>
          // A commitment by hand has no value: the node does not continue it.
          textAt(each, "name") === name && at(each, "value_encoding") !== undefined &&
          !["done", "failed"].includes(textAt(each, "step") ?? "")
        )
        ? new CommandFailed({
          message: `${name} is already being registered`,
          remedy: `"${NAME} registrations" shows its progress`
        })
        : Effect.void
  )

/** Blocks of a registration: those before the name can be shown, and the one that has the name. */
const BLOCKS = DEPTH + 1

interface Begun {
  readonly name: string
  readonly isEncrypted: boolean
  /** Whether blocks come at a steady rate. */
  readonly dated: boolean
  /** Whether it waits for others before its first transaction is sent. */
  readonly isQueued: boolean
}

const nextText = ({ dated, isEncrypted, isQueued, name }: Begun): string =>
  `${
    isQueued
      ? `The registration of ${name} waits for a block, as do earlier transactions of the wallet. Then it takes `
      : `The registration of ${name} has started. It takes `
  }${dated ? `${BLOCKS} blocks, about two hours` : `${BLOCKS} blocks`}, and the node completes it by itself.\n` +
  (isEncrypted
    ? `The wallet must then be unlocked for a moment: "${NAME} -stdin walletpassphrase" and two lines.\n`
    : "") +
  `"${NAME} registrations" shows its progress.\n`

export const registerCommand = (
  { daemon, input, line }: OwnContext
): Effect.Effect<CliOutcome, RpcClientError | CommandFailed> =>
  Effect.gen(function*() {
    const { prompt } = input
    const screen = wholeOn(input.screen)
    const name = yield* newNameBy(line.words[0])
    const json = line.wants("json")
    yield* free(daemon, name)
    const value = (yield* requestedValue({ name, before: "", line, input })) ?? ""
    const owner = line.text("owner")
    const asked = line.text("renew")
    if (owner !== undefined && asked !== undefined && line.wants("renew")) {
      return yield* new CommandFailed({
        message: "-renew cannot be combined with -owner: a wallet renews only its own names"
      })
    }
    // Always said, so that the wallet does what the question shows, whatever the node's -autorenew is.
    const autorenew = owner === undefined && (asked === undefined || line.wants("renew"))

    const valueBytes = UTF8.encode(value)
    const report = valueReport(name, valueBytes)
    yield* acceptable({ value, report, line })
    const { commitment, operation } = yield* costsOf(daemon, UTF8.encode(name).length + valueBytes.length)
    const balance = yield* balanceOf(daemon)
    yield* affordable({ balance, cost: MIN_NAME_AMOUNT + commitment + operation })
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
        ["Value", roomText(report)]
      ], screen),
      ...valueLines(value, report, screen)
    ].join("\n")
    const said = yield* agreed(prompt, { preview, question: "Register it?", yes: line.wants("yes") })
    const dated = textAt(yield* ask(daemon, "getblockchaininfo"), "chain") !== "regtest"
    const isEncrypted = numberAt(yield* ask(daemon, "getwalletinfo"), "unlocked_until") !== undefined
    const begun = yield* withKeys(
      { daemon, prompt },
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
      : nextText({ name: shownText(name), isEncrypted, dated, isQueued: isUnsent(txid) })
    return success(`${said === "" ? "" : `${said}\n`}${end}`)
  })
