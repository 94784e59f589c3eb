/**
 * Bugs to plant, each as a few edits of `src`: `npm run simulate -- --planted` builds a copy of the node with
 * one of them, and counts the seeds until a property fails. A bug that is never found shows what the world lacks.
 */

export interface Edit {
  /** Below `src`. */
  readonly file: string
  /** Stands in the file exactly once. */
  readonly find: string
  readonly put: string
}

export interface PlantedBug {
  readonly name: string
  /** What the node does wrong. */
  readonly does: string
  readonly edits: ReadonlyArray<Edit>
  /** Whether it takes back a fix of the changelog. */
  readonly past?: boolean
  /** The world whose actors it needs; world 1 if omitted. */
  readonly world?: 2
}

const bug = (name: string, does: string, ...edits: ReadonlyArray<Edit>): PlantedBug => ({ name, does, edits })

const past = (name: string, does: string, ...edits: ReadonlyArray<Edit>): PlantedBug => ({
  ...bug(name, does, ...edits),
  past: true
})

/** Only operators, or programs that read names, see it. */
const inWorld2 = (planted: PlantedBug): PlantedBug => ({ ...planted, world: 2 })

const CONNECT = "consensus/connectBlock.ts"
const STORE = "names/NameStore.ts"
const MAINTENANCE = "mempool/maintenance.ts"
const POOL_FOLLOWER = "mempool/PoolFollower.ts"
const HOOKS = "webhooks/HookWorker.ts"

const chain: ReadonlyArray<PlantedBug> = [
  bug("expiry-stays", "a reorganization does not bring back the coins of names that expired in its blocks", {
    file: CONNECT,
    find: "  for (const [key, coin] of removed) coins.set(key, coin)",
    put: `  const inputs = new Set<string>(
    block.transactions.flatMap((each) => each.inputs.map(({ prevout }) => outpointKey(prevout)))
  )
  for (const [key, coin] of removed) if (inputs.has(key)) coins.set(key, coin)`
  }),
  bug("claim-stays", "a reorganization leaves the claim of a name that only its blocks registered", {
    file: CONNECT,
    find: "...undo.claimsBefore]",
    put: "...[...undo.claimsBefore].filter(([, claim]) => claim !== undefined)]"
  }),
  bug("claim-row-stays", "the removal of a claim is not stored", {
    file: "chain/state/ChainDatabase.ts",
    find: "    if (claim === undefined) gone.push(key)",
    put: "    if (claim === undefined) continue"
  }),
  bug("early-registration", "names may be registered a block too early", {
    file: "consensus/names.ts",
    find: "export const MIN_FIRSTUPDATE_DEPTH = 12",
    put: "export const MIN_FIRSTUPDATE_DEPTH = 11"
  }),
  bug("long-life", "names live a block too long", {
    file: "consensus/expiry.ts",
    find: "export const REGTEST_EXPIRATION_DEPTH = 30",
    put: "export const REGTEST_EXPIRATION_DEPTH = 31"
  }),
  bug("young-reward", "block rewards can be spent a block too early", {
    file: "consensus/params.ts",
    find: "export const COINBASE_MATURITY = 100",
    put: "export const COINBASE_MATURITY = 99"
  }),
  bug("told-before-stored", "followers learn of blocks that are not stored", {
    file: "chain/write/ChainWriter.ts",
    find: "whileTelling(flush.pipe(Effect.zipRight(turnOfEventLoop), Effect.zipRight(tellAll(false))))",
    put: "whileTelling(tellAll(false).pipe(Effect.zipRight(turnOfEventLoop), Effect.zipRight(flush)))"
  }),
  bug("lost-flight", "blocks asked of a peer that leaves are asked of no other peer", {
    file: "network/sync/BlockDownload.ts",
    find: "    for (const header of [...state.flights]) this.cancel(state, header)\n",
    put: ""
  })
]

const names: ReadonlyArray<PlantedBug> = [
  bug("cursor-of-rewind", "names.db forgets its cursor in the transaction of a rewind", {
    file: STORE,
    find: `    yield* runRows(connection, { statement: INSERT_BLOCKS, rows: [to] })
    yield* writeCursor(connection, to)
  })`,
    put: "    yield* runRows(connection, { statement: INSERT_BLOCKS, rows: [to] })\n  })"
  }),
  bug("first-operation", "a name gets its first operation back instead of the last before the reorganization", {
    file: STORE,
    find: "WHERE o.name_id = names.id AND o.id < @from ORDER BY o.id DESC LIMIT 1",
    put: "WHERE o.name_id = names.id AND o.id < @from ORDER BY o.id ASC LIMIT 1"
  }),
  bug("stale-record", "the cache keeps the records of names that a block changes", {
    file: "names/NameFollower.ts",
    find: "        records.freeze(touched === \"all\" ? touched : touched.keys())",
    put: "        records.freeze(touched === \"all\" ? touched : [])"
  }),
  bug("early-denial", "names are denied while blocks are missing", {
    file: "names/completeNames.ts",
    find: "      if ((yield* health.doubts).length > 0 || (yield* missing)) return undefined",
    put: "      if ((yield* health.doubts).length > 0) return undefined"
  }),
  inWorld2(bug("untold-commit", "readers of events are not woken", {
    file: "names/NameFollower.ts",
    find: "          commits.tell(touched)\n",
    put: ""
  })),
  inWorld2(bug("undone-expiry", "events of a reorganization leave out the names that had expired in its blocks", {
    file: "names/events/undone.ts",
    find: "  if (updated !== undefined && updated <= base) {",
    put: "  if (updated !== undefined && updated < 0) {"
  }))
]

const mempool: ReadonlyArray<PlantedBug> = [
  bug("conflict-stays", "the mempool keeps what a block double-spends", {
    file: MAINTENANCE,
    find: "      pool.removeAll([other], \"conflict\")\n",
    put: ""
  }),
  bug("second-registration", "the mempool keeps the registration of a name that a block registers", {
    file: MAINTENANCE,
    find: "    if (transaction.version === NAME_TX_VERSION) removeRegistrations(pool, transaction)\n",
    put: ""
  }),
  bug("invalid-stays", "the mempool keeps what a reorganization made invalid", {
    file: POOL_FOLLOWER,
    find: "    yield* attempt(() => removeInvalid(pool, state, params))\n",
    put: ""
  }),
  bug("reverse-order", "the transactions of disconnected blocks come back in reverse order", {
    file: POOL_FOLLOWER,
    find: "        taken.unshift(block)",
    put: "        taken.push(block)"
  }),
  bug("no-second-request", "a transaction that a peer did not deliver is asked of no other peer", {
    file: "network/relay/TxRequests.ts",
    find: `      this.enter(announcement, "done")
      this.elect(announcement.hash)
    }
  }`,
    put: `      this.enter(announcement, "done")
    }
  }`
  })
]

const wallet: ReadonlyArray<PlantedBug> = [
  bug("salt-after-send", "a NAME_NEW is sent before its salt is stored", {
    file: "wallet/names/commitNew.ts",
    find: "    yield* update(parts, withEntry(entry, replaces))\n    const takeBack",
    put: "    const takeBack"
  }, {
    file: "wallet/names/commitNew.ts",
    find: "    const transaction = yield* Effect.tapError(payName(parts, payment), () => takeBack)\n",
    put: `    const transaction = yield* Effect.tapError(payName(parts, payment), () => takeBack)
    yield* update(parts, withEntry(entry, replaces))
`
  }),
  bug("sent-before-stored", "a payment is offered to the mempool before it is stored", {
    file: "wallet/payments/commit.ts",
    find: `      if (isNew) yield* keep(transaction, notes, time)
      yield* offer(transaction, isNew, notes)
`,
    put: `      yield* offer(transaction, isNew, notes)
      if (isNew) yield* keep(transaction, notes, time)
`
  }),
  bug("answer-before-write", "changes of a wallet are acknowledged before they are written", {
    file: "wallet/keys/WalletFile.ts",
    find: "      const store = text === undefined ? Effect.void : Effect.flatMap(text, (each) => this.store(each))",
    put: `      const store = text === undefined
        ? Effect.void
        : Effect.asVoid(Effect.forkDaemon(Effect.flatMap(text, (each) => this.store(each))))`
  }),
  bug("two-writers", "two writes of a wallet run at the same time", {
    file: "wallet/keys/WalletFile.ts",
    find: "  private readonly writing = Effect.unsafeMakeSemaphore(1)",
    put: "  private readonly writing = Effect.unsafeMakeSemaphore(2)"
  }),
  bug("two-operations", "two operations of a wallet on names run at the same time", {
    file: "wallet/names/makeNames.ts",
    find: "    const turn = (yield* Effect.makeSemaphore(1)).withPermits(1)",
    put: "    const turn = (yield* Effect.makeSemaphore(8)).withPermits(1)"
  }),
  bug("wallet-keeps-block", "a wallet keeps its coins of a block that left the chain", {
    file: "wallet/ledger/Ledger.ts",
    find: "      entry.block = undefined\n      entry.abandoned = entry.coinbase",
    put: "      if (entry.coinbase) entry.block = undefined\n      entry.abandoned = entry.coinbase"
  }),
  bug("unsent-update", "updates of names are stored and not sent", {
    file: "wallet/payments/commit.ts",
    find: "      yield* offer(transaction, isNew, notes)\n",
    put:
      `      if (!transaction.outputs.some(({ script }) => script[0] === 0x53)) yield* offer(transaction, isNew, notes)
`
  }),
  bug("late-renewal", "names are renewed when it is too late", {
    file: "wallet/names/renewals.ts",
    find: "const LEAST_WINDOW = 3",
    put: "const LEAST_WINDOW = 0"
  })
]

const readers: ReadonlyArray<PlantedBug> = [
  inWorld2(bug("unsigned-counts", "a light node says of an update that no owner signed that one did", {
    file: "light/WindowReader.ts",
    find: "chain.proves(file.proof(name)) ? \"signatures\" : \"work\"",
    put: "chain.proves(file.proof(name)) || true ? \"signatures\" : \"work\""
  })),
  inWorld2(bug("stale-answer", "the cache of DNS gives answers from before a change of their names", {
    file: "dns/AnswerCache.ts",
    find: "    if (moment < this.beginning) return false\n",
    put: "    if (moment >= 0) return true\n"
  })),
  inWorld2(bug("cursor-before-delivery", "the cursor of a webhook moves before its message is delivered", {
    file: HOOKS,
    find: "      if (row !== hook.row) yield* store(row)",
    put: "      yield* store({ ...row, position: attempt.cursor, attempt: undefined })"
  })),
  inWorld2(bug("unmarked-message", "a message of a webhook is sent before its mark is stored", {
    file: HOOKS,
    find: "      if (row !== hook.row) yield* store(row)",
    put: "      hook.row = row"
  })),
  inWorld2(bug("expired-counted", "the statistics of the unspent coins keep those of expired names", {
    file: "chain/indexes/coinTotals.ts",
    find: "    removed: [...coins?.removed ?? []]\n",
    put: "    removed: [...coins?.removed ?? []].filter(([key]) => inside.has(key))\n"
  })),
  inWorld2(bug("validation-ends", "a node that restarts does not validate the blocks below its snapshot any more", {
    file: "chain/Snapshots.ts",
    find: "    yield* background.begin\n    return {",
    put: "    return {"
  })),
  inWorld2(bug("client-stays", "a client that is done leaves a fiber that waits for the end of the node", {
    file: "node/nodeClient.ts",
    find: "      Effect.forkScoped\n    ))",
    put: "      Effect.forkDaemon\n    ))"
  })),
  inWorld2(bug("swallowed-commit", "a wallet goes on although its index could not store a block", {
    file: "wallet/ledger/IndexStore.ts",
    find: "    this.using(\"writing\", () => this.opened.database.transaction(work)())\n",
    put: `    try {
      this.using("writing", () => this.opened.database.transaction(work)())
    } catch {
      return
    }
`
  })),
  bug("given-up-stays", "a payment given up with an expired name does not wait again after a reorganization", {
    file: "wallet/ledger/orphans.ts",
    find: "return [...lost, ...takeUpAgain(ledger)]",
    put: "return lost"
  }),
  bug("memory-of-peers", "the memory of a peer that leaves is not given back", {
    file: "network/peer/PeerConnection.ts",
    find: "    this.memory.close()\n",
    put: ""
  })
]

const reverted: ReadonlyArray<PlantedBug> = [
  past("short-reorg", "a reorganization brings back the transactions of its last ten blocks alone", {
    file: POOL_FOLLOWER,
    find: "MAX_INVALIDATED - disconnected.length : Infinity",
    put: "MAX_INVALIDATED - disconnected.length : MAX_INVALIDATED"
  }),
  past("orphaned-reward", "a payment that spends an orphaned block reward keeps its other coins", {
    file: "wallet/ledger/WalletIndex.ts",
    find: "const changed = settleLost(ledger, lost)",
    put: "const changed = settleLost(ledger, [])"
  }, {
    file: "wallet/payments/commit.ts",
    find: "{ type: \"inactive\", abandoned: lost, lost }",
    put: "{ type: \"inactive\", abandoned: false && lost, lost: false && lost }"
  }),
  past("displaced-payment", "a payment that the mempool has another one for keeps its coins", {
    file: "wallet/ledger/LedgerEntry.ts",
    find: "lives(state) && displacedBy.size === 0",
    put: "lives(state) && displacedBy.size >= 0"
  }),
  inWorld2(past("lost-decision", "the operator's decision about a block is lost with the chain state", {
    file: "chain/ChainControl.ts",
    find: "            decisions.note(state, id, invalid)\n",
    put: ""
  })),
  past("late-update", "an update of a name that expired before a block took it keeps its other coins", {
    file: "wallet/ledger/orphans.ts",
    find: "    if (ledger.spendsExpired(ancestor)) return true\n",
    put: ""
  }, {
    file: "wallet/ledger/orphans.ts",
    find: "dependentsOf(ledger, late).filter(waits)",
    put: "dependentsOf(ledger, late).filter(() => false)"
  }),
  past("unsynced-wallet", "a power cut takes what a wallet has acknowledged", {
    file: "base/atomicFile.ts",
    find: "      await syncAside(file)\n",
    put: ""
  }, {
    file: "base/atomicFile.ts",
    find: "  await syncDirectory(dirname(path))\n",
    put: ""
  })
]

export const PLANTED: ReadonlyArray<PlantedBug> = [
  ...chain,
  ...names,
  ...mempool,
  ...wallet,
  ...readers,
  ...reverted
]

/** The changed text of a file. Throws an `Error` if the text to find is not there, or there twice. */
export const changed = (source: string, { file, find, put }: Edit): string => {
  const at = source.indexOf(find)
  if (at < 0) throw new Error(`src/${file} does not have the text to replace: ${find.trim()}`)
  if (source.indexOf(find, at + 1) >= 0) throw new Error(`src/${file} has the text to replace twice: ${find.trim()}`)
  return source.slice(0, at) + put + source.slice(at + find.length)
}
