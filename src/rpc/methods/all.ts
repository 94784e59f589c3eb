import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { SyncReporter } from "../../light/SyncReporter.ts"
import { NamesIncomplete } from "../../names/errors.ts"
import { version } from "../../version.ts"
import { LogControl } from "../LogControl.ts"
import type { Method, Methods } from "../method/methodTable.ts"
import { activityMethods } from "./activityMethods.ts"
import { alertMailMethods } from "./alertMailMethod.ts"
import { blockMethods } from "./blockMethods.ts"
import { chainMethods } from "./chainMethods.ts"
import { checkMethods, pruneMethods } from "./checkMethods.ts"
import { coinMethods } from "./coinMethods.ts"
import * as Control from "./control.ts"
import { deskMethods } from "./deskMethods.ts"
import { dnskeyMethods } from "./dnskeyMethods.ts"
import { expiryMethods } from "./expiryMethods.ts"
import { feeMethods } from "./feeMethods.ts"
import { filterMethods } from "./filterMethods.ts"
import { findMethods } from "./findAnswer.ts"
import { infoMethods } from "./infoMethods.ts"
import { lintMethods } from "./lintMethod.ts"
import { mempoolFileMethods, mempoolMethods } from "./mempoolMethods.ts"
import { miningMethods } from "./miningMethods.ts"
import { nameMethods } from "./nameMethods.ts"
import { nameProofs } from "./nameProof.ts"
import { networkMethods, zmqMethods } from "./networkMethods.ts"
import { offerMethods } from "./offerMethods.ts"
import { packageMethods } from "./packageMethods.ts"
import { pendingMethods } from "./pendingMethods.ts"
import { portableProofMethods } from "./portableProofMethods.ts"
import { proofMethods } from "./proofMethods.ts"
import { psbtMethods } from "./psbtMethods.ts"
import { psbtUpdateMethods } from "./psbtUpdateMethods.ts"
import { rawTransactionMethods } from "./rawTransactionMethods.ts"
import { resolveMethods } from "./resolveAnswer.ts"
import { scanMethods } from "./scanMethods.ts"
import { snapshotMethods } from "./snapshotMethods.ts"
import { spenderMethods } from "./spenderMethods.ts"
import { statsMethods } from "./statsMethods.ts"
import { syncMethods, waitMethods } from "./syncMethods.ts"
import { testMethods } from "./testMethods.ts"
import { transactionMethods } from "./transactionMethods.ts"
import { utilMethods } from "./utilMethods.ts"
import { nameWalletMethods } from "./wallet/nameWalletMethods.ts"
import { paymentMethods } from "./wallet/paymentMethods.ts"
import { walletMethods } from "./wallet/walletMethods.ts"
import { webhookMethods } from "./webhookMethods.ts"

/** Refuses methods that need all coins with -10 while a window of the last blocks answers. */
export const coinsOfWholeChain = (
  methods: ReadonlyArray<Method>
): Methods<NameAnswers | SyncReporter> =>
  Effect.gen(function*() {
    const { fromWindow } = yield* NameAnswers
    const { refuse } = nameProofs(yield* SyncReporter)
    return methods.map((method): Method =>
      method.coins === "whole"
        ? {
          ...method,
          call: (params, context) => fromWindow() ? refuse(new NamesIncomplete()) : method.call(params, context)
        }
        : method
    )
  })

const controlMethods = Effect.flatMap(
  Effect.serviceOption(LogControl),
  Option.match({
    onNone: () => Control.make({ version, logPath: "" }),
    onSome: ({ categories, path }) => Control.make({ version, logPath: path, logging: categories })
  })
)

export const allMethods = Effect.flatMap(
  Effect.all([
    controlMethods,
    deskMethods,
    infoMethods,
    chainMethods,
    checkMethods,
    blockMethods,
    proofMethods,
    pruneMethods,
    statsMethods,
    syncMethods,
    waitMethods,
    scanMethods,
    filterMethods,
    activityMethods,
    coinMethods,
    snapshotMethods,
    nameMethods,
    lintMethods,
    findMethods,
    resolveMethods,
    portableProofMethods,
    dnskeyMethods,
    webhookMethods,
    expiryMethods,
    alertMailMethods,
    transactionMethods,
    mempoolMethods,
    mempoolFileMethods,
    spenderMethods,
    offerMethods,
    feeMethods,
    pendingMethods,
    packageMethods,
    networkMethods,
    miningMethods,
    testMethods,
    rawTransactionMethods,
    psbtMethods,
    psbtUpdateMethods,
    utilMethods,
    walletMethods,
    paymentMethods,
    nameWalletMethods,
    zmqMethods
  ]),
  (groups) => coinsOfWholeChain(groups.flat())
)
