import { assert, describe, it } from "@effect/vitest"
import { credentialsOf, type Settings } from "../../src/config/settings.ts"
import { settingsOf } from "./input.ts"

/** docs/configuration.md has the defaults of all options, and `check:docs` compares them. Here are those of the specification. */
const DEFAULTS = {
  chain: {
    network: "mainnet",
    dataDir: "/home/me/.svcd",
    loadBlocks: [],
    loadSnapshot: undefined,
    snapshotHash: undefined,
    assumeValid: "default",
    sync: "full",
    anchor: "default",
    reindex: false,
    reindexChainstate: false,
    prune: 0,
    fastPrune: false,
    minimumChainWork: undefined,
    maxTipAge: 86_400,
    verifyThreads: 3,
    dbCache: 32,
    checkBlocks: 6,
    checkLevel: 3,
    backgroundCheck: true,
    txIndex: false,
    blockFilterIndex: "0",
    coinStatsIndex: false,
    txoSpenderIndex: false,
    electrumIndex: false,
    pageSize: 4096,
    testActivationHeights: [],
    versionBits: [],
    test: [],
    mockTime: 0
  },
  rpc: {
    listenAddr: { host: "127.0.0.1", port: 8336 },
    rpcUser: undefined,
    rpcPassword: undefined,
    rpcAuth: [],
    binds: [],
    allowed: [],
    workQueue: 1024,
    serverTimeout: 30,
    checkAnswers: false,
    rights: [],
    allowInsecure: false,
    rateLimit: 0,
    maxRequestSize: 0,
    statusPage: true,
    rest: false,
    webWallet: false,
    webWalletProxy: false
  },
  methods: { whitelists: [], byDefault: undefined },
  notify: {
    blocknotify: undefined,
    walletnotify: undefined,
    namenotify: undefined,
    alertnotify: undefined,
    startupnotify: undefined,
    shutdownnotify: []
  },
  webhooks: { configured: [], allowPrivate: false },
  metrics: { listen: undefined, detail: false },
  peers: {
    listen: { host: "", port: 8334 },
    maxPeers: 125,
    maxInbound: 100,
    maxOutbound: 25,
    bootstrapPeers: [],
    proxy: [],
    onion: undefined,
    proxyRandomize: true,
    whitelist: [],
    whitebind: [],
    whitelistRelay: true,
    whitelistForceRelay: false,
    userAgentComments: [],
    connectTimeout: 5_000,
    peerTimeout: 60,
    maxUploadTarget: 0,
    blocksOnly: false,
    peerBloomFilters: false,
    peerBlockFilters: false,
    onlyNet: [],
    seedNodes: [],
    dnsSeed: true,
    forceDnsSeed: false,
    fixedSeeds: true,
    externalAddresses: [],
    discover: true
  },
  mempool: {
    maxMempool: 300,
    mempoolExpiry: 336,
    persistMempool: true,
    minRelayTxFee: 100_000,
    incrementalRelayFee: 100,
    dustRelayFee: 3_000,
    acceptNonStdTxn: false,
    dataCarrier: true,
    dataCarrierSize: 100_000,
    permitBareMultisig: true,
    bytesPerSigop: 20,
    limitClusterCount: 64,
    limitClusterSize: 101,
    blockMaxWeight: 4_000_000,
    blockReservedWeight: 8_000,
    blockMinTxFee: 1,
    blockVersion: 0
  },
  names: { reindexNames: false, watch: [] },
  alerts: { mail: [], mailServer: undefined, mailFrom: undefined, mailPlain: false },
  answers: {
    nameHistory: true,
    nameHashIndex: false,
    nameEncoding: "ascii",
    valueEncoding: "ascii",
    allowExpired: false,
    requireProof: "work",
    banTime: 86_400
  },
  wallet: {
    disableWallet: false,
    noWallet: false,
    limitNameChains: 1,
    addressType: "legacy",
    changeType: undefined,
    minTxFee: 100_000,
    fallbackFee: undefined,
    discardFee: 10_000,
    consolidateFeeRate: 1_000_000,
    maxTxFee: 10_000_000,
    txConfirmTarget: 6,
    walletRbf: true,
    keypool: 1_000,
    spendZeroConfChange: true,
    avoidPartialSpends: false,
    maxApsFee: 0,
    walletRejectLongChains: true,
    autoRenew: true,
    walletBroadcast: true
  },
  log: { level: "info", format: "text", debugSubsystems: [], file: undefined }
} satisfies { readonly [Part in keyof Settings]?: Partial<Settings[Part]> }

describe("decodeSettings", () => {
  const settings = settingsOf([])

  it.each(Object.entries(DEFAULTS))("has the defaults of the specification for %s (spec 1, flags)", (part, fields) => {
    const found = new Map<string, object>(Object.entries(settings)).get(part)
    assert.deepInclude(found, fields)
  })

  it("has no credentials by default", () => assert.isUndefined(credentialsOf(settings.rpc)))
})
