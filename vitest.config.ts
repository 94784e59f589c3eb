import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { COMPILED, compiledSources } from "./test/support/compiledSources.ts"

/** Property tests and vectors take long on a slow machine; a test that waits for longer than this hangs. */
const UNIT_TIMEOUT = 120_000

/** A test that starts a node, kills it and starts it again. */
const INTEGRATION_TIMEOUT = 180_000

/**
 * The test files below test/ that take more than some 2 seconds. All others are the quick tests, of which each is held
 * to that (`test/support/cpuLimit.ts`). A file that became cheaper leaves this list.
 */
const SLOW = [
  "base/boundHeap.test.ts",
  "chain/Chain.test.ts",
  "chain/TxIndex.test.ts",
  "chain/background/BackgroundValidation.test.ts",
  "chain/damagedChain.test.ts",
  "chain/import/badImports.test.ts",
  "chain/import/importBlocks.test.ts",
  "chain/import/scanRecords.test.ts",
  "chain/indexes/Indexes.test.ts",
  "chain/indexes/ScriptIndex.test.ts",
  "chain/indexes/scriptIndexRuns.test.ts",
  "chain/reorganisation.test.ts",
  "chain/repair/chainDamage.test.ts",
  "chain/repair/verifyChain.test.ts",
  "chain/snapshot/loadCoins.test.ts",
  "chain/snapshot/snapshotFile.test.ts",
  "chain/spans.test.ts",
  "chain/state/CoinStore.test.ts",
  "chain/state/CoinTable.test.ts",
  "chain/state/storedBlocks.test.ts",
  "chain/write/VerifyPool.test.ts",
  "client/daemonBlocks.test.ts",
  "client/daemonClient.test.ts",
  "client/daemonEvents.test.ts",
  "client/daemonRegistrations.test.ts",
  "config/DataDirectory.test.ts",
  "config/nodeOptions.test.ts",
  "consensus/chainFixtures.test.ts",
  "consensus/fixtureVerdicts.test.ts",
  "consensus/realTransactions.test.ts",
  "consensus/signature.test.ts",
  "consensus/signatureVectors.test.ts",
  "consensus/undoBlock.test.ts",
  "crash/diskImage.test.ts",
  "desk/deskBrowser.test.ts",
  "dns/atOnce.test.ts",
  "dns/transfer/secondaries.test.ts",
  "dns/transfer/transferStreams.test.ts",
  "dns/wire/message.test.ts",
  "electrum/lightServer.test.ts",
  "electrum/reorganizations.test.ts",
  "electrum/resolve.test.ts",
  "electrum/server.test.ts",
  "electrum/transports.test.ts",
  "electrum/wallets.test.ts",
  "examples/examples.test.ts",
  "examples/verifyPage.test.ts",
  "http/RpcServer.test.ts",
  "http/hostile.test.ts",
  "http/laneEquality.test.ts",
  "http/requestBody.test.ts",
  "http/serverConnections.test.ts",
  "http/serverLimits.test.ts",
  "light/Light.test.ts",
  "light/LightChain.test.ts",
  "light/attacks.test.ts",
  "light/equality.test.ts",
  "light/headerPeers.test.ts",
  "light/hostileRuns.test.ts",
  "light/joinHeaders.test.ts",
  "light/reorganizations.test.ts",
  "light/serviceRuns.test.ts",
  "light/windowBranches.test.ts",
  "light/windowFaults.test.ts",
  "light/windowProofs.test.ts",
  "mail/SmtpRelay.test.ts",
  "mail/relay/Inbound.test.ts",
  "mail/relay/crash.test.ts",
  "mail/relay/makeRelay.test.ts",
  "mempool/fees/FeeEstimator.test.ts",
  "mempool/fees/FeeHistory.test.ts",
  "mempool/invariants.test.ts",
  "mempool/mining/Miner.test.ts",
  "mempool/scripts/ScriptBook.test.ts",
  "mempool/scripts/scriptBookScan.test.ts",
  "names/NameFollower.test.ts",
  "names/NamesFile.test.ts",
  "names/chainFixtures.test.ts",
  "names/events/NameEvents.test.ts",
  "names/events/cursors.test.ts",
  "names/events/replica.test.ts",
  "names/liveRepair.test.ts",
  "names/nameQueries.test.ts",
  "names/search/findNames.test.ts",
  "network/PeerManager.test.ts",
  "network/addresses/AddressBook.test.ts",
  "network/addresses/storedBook.test.ts",
  "network/peer/PeerConnection.test.ts",
  "network/peer/peerLoad.test.ts",
  "network/relay/realMempool.test.ts",
  "network/serve/Server.test.ts",
  "network/sync/BlockDownload.test.ts",
  "network/sync/SyncManager.test.ts",
  "network/sync/headerQuestions.test.ts",
  "network/sync/newBlocks.test.ts",
  "network/wire/fuzz.test.ts",
  "network/wire/message.test.ts",
  "node/embedded.test.ts",
  "node/embeddedLife.test.ts",
  "node/embeddedWallet.test.ts",
  "node/layers.test.ts",
  "node/lightChanges.test.ts",
  "node/logFile.test.ts",
  "node/logging.test.ts",
  "node/memoryNames.test.ts",
  "node/proveName.test.ts",
  "node/regtest.test.ts",
  "node/restartNames.test.ts",
  "node/samples.test.ts",
  "packaging/declarations.test.ts",
  "postgres/PostgresNames.test.ts",
  "postgres/exporter.test.ts",
  "programs/cli/cli.test.ts",
  "programs/cli/cliConnection.test.ts",
  "programs/cli/doctor.test.ts",
  "programs/mail/program.test.ts",
  "programs/svcd/daemonProgram.test.ts",
  "programs/wallet/balance.test.ts",
  "programs/wallet/program.test.ts",
  "programs/wallet/psbtCommands.test.ts",
  "programs/wallet/secrets.test.ts",
  "promise.test.ts",
  "protocol/browser.test.ts",
  "protocol/psbt/psbt.test.ts",
  "rpc/batches.test.ts",
  "rpc/callerMemory.test.ts",
  "rpc/methods/all.test.ts",
  "rpc/methods/blockMethods.test.ts",
  "rpc/methods/chainMethods.test.ts",
  "rpc/methods/coinMethods.test.ts",
  "rpc/methods/expiryMethods.test.ts",
  "rpc/methods/filterMethods.test.ts",
  "rpc/methods/generateMethods.test.ts",
  "rpc/methods/largeNumbers.test.ts",
  "rpc/methods/miningMethods.test.ts",
  "rpc/methods/nameMethods.test.ts",
  "rpc/methods/nameScan.test.ts",
  "rpc/methods/portableProofMethods.test.ts",
  "rpc/methods/psbtMethods.test.ts",
  "rpc/methods/rawTransactionMethods.test.ts",
  "rpc/methods/rights.test.ts",
  "rpc/methods/transactionMethods.test.ts",
  "rpc/methods/wallet/coldNames.test.ts",
  "rpc/methods/wallet/coldRenewals.test.ts",
  "rpc/methods/wallet/lostName.test.ts",
  "rpc/methods/wallet/namePsbt.test.ts",
  "rpc/reader/ReadThread.test.ts",
  "rpc/reader/readThreadLife.test.ts",
  "scripts/checkImports.test.ts",
  "scripts/checkParams.test.ts",
  "scripts/rpcDocs.test.ts",
  "simulation/virtual/powerCut.test.ts",
  "simulation/world.test.ts",
  "storage/PageGuard.test.ts",
  "storage/logCopy.test.ts",
  "storage/logCopyAside.test.ts",
  "verify/mutations.test.ts",
  "verify/verifyNameProof.test.ts",
  "wallet/WalletLive.test.ts",
  "wallet/Wallets.test.ts",
  "wallet/blankWallet.test.ts",
  "wallet/keys/KeyRing.test.ts",
  "wallet/keys/imports.test.ts",
  "wallet/keys/prepareImport.test.ts",
  "wallet/keys/seal.test.ts",
  "wallet/keys/walletDamage.test.ts",
  "wallet/keys/walletDrafts.test.ts",
  "wallet/liveConflicts.test.ts",
  "wallet/liveImports.test.ts",
  "wallet/livePayments.test.ts",
  "wallet/liveRepair.test.ts",
  "wallet/names/endedRegistrations.test.ts",
  "wallet/names/liveRegistration.test.ts",
  "wallet/names/liveRenewal.test.ts",
  "wallet/names/renewMany.test.ts",
  "wallet/names/withdrawnRenewals.test.ts",
  "wallet/payments/bump.test.ts",
  "wallet/payments/bumpFee.test.ts",
  "wallet/payments/commit.test.ts",
  "wallet/payments/livePolicy.test.ts",
  "wallet/payments/lockTime.test.ts",
  "wallet/randomHistory.test.ts",
  "wallet/renewalsOnly.test.ts",
  "wallet/signing/signTransaction.test.ts",
  "wallet/walletHistory.test.ts",
  "wallet/walletRules.test.ts",
  "wallet/wordsRecovery.test.ts",
  "web/events/eventReaders.test.ts",
  "web/events/eventsPage.test.ts",
  "web/explorer/blocks.test.ts",
  "web/explorer/lists.test.ts",
  "web/explorerBrowser.test.ts",
  "web/growingPages.test.ts",
  "web/statusPage.test.ts",
  "webhooks/Webhooks.test.ts",
  "webhooks/configuredHooks.test.ts",
  "webhooks/hookMessage.test.ts",
  "webhooks/hookRuns.test.ts",
  "webhooks/hookUndo.test.ts"
]

/** The longest files, before the others of their project: the last one of a run would leave a core idle. */
const LONGEST = [
  "desk/deskBrowser",
  "web/explorerBrowser",
  "simulation/world",
  "names/events/replica",
  "postgres/exporter",
  "dns/transfer/secondaries",
  "integration/crash",
  "integration/failures",
  "integration/daemon",
  "integration/tutorials",
  "integration/light",
  "integration/upgrade",
  "integration/restarts",
  "integration/damage",
  "integration/registration"
].map((name) => `/test/${name}.test.ts`)

const rank = ({ moduleId }: TestSpecification): number => {
  const place = LONGEST.findIndex((file) => moduleId.endsWith(file))
  return place === -1 ? LONGEST.length : place
}

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}

const slow = SLOW.map((file) => `test/${file}`)
const integration = "test/integration/**/*.test.ts"
/** Of all projects: their tests import the sources, those of whole programs as well. */
const plugins = [compiledSources()]
const setupFiles = ["test/support/curveOnce.ts", "test/support/propertySeed.ts"]
const server = { deps: { external: [COMPILED] } }
const unit = { server, testTimeout: UNIT_TIMEOUT, hookTimeout: UNIT_TIMEOUT }

export default defineConfig({
  test: {
    pool: "forks",
    // Layers own the state, so test files can share one module graph: several times faster. The pool takes this from here
    // and not from a project (vitest 3.2).
    isolate: false,
    // A test that fails sometimes is a bug in the test or in the node.
    retry: 0,
    maxWorkers: 2,
    minWorkers: 1,
    sequence: { sequencer: LongestFirst },
    globalSetup: "test/support/sharedDirectory.ts",
    projects: [
      {
        plugins,
        test: {
          ...unit,
          name: "quick",
          include: ["test/**/*.test.ts"],
          exclude: [integration, ...slow],
          setupFiles: [...setupFiles, "test/support/cpuLimit.ts"],
          sequence: { groupOrder: 0 }
        }
      },
      {
        plugins,
        test: {
          ...unit,
          name: "slow",
          include: slow,
          setupFiles,
          sequence: { groupOrder: 1 }
        }
      },
      {
        plugins,
        test: {
          server,
          name: "integration",
          include: [integration],
          // Whole programs of the build, after everything else, so that a node shares the machine with one other at most.
          testTimeout: INTEGRATION_TIMEOUT,
          hookTimeout: INTEGRATION_TIMEOUT,
          sequence: { groupOrder: 2 }
        }
      }
    ]
  }
})
