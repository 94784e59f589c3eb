import {
  block,
  bytes,
  flags,
  header,
  nameOperation,
  networks,
  params,
  transaction,
  verifyTransaction
} from "svcd/protocol"

/** Reads a chain as a program in a browser would: `browser.test.ts` bundles this file and runs it there. */

/** What a block is by its own bytes, and what comes out where it is put together again from its parts. */
export interface BlockRead {
  readonly hash: string
  readonly txids: ReadonlyArray<string>
  readonly wtxids: ReadonlyArray<string>
  /** Whether header and transactions have the same bytes again. */
  readonly isSameAgain: boolean
  /** Name scripts, `NAME_NEW` too. */
  readonly names: number
  /** Inputs whose scripts and signatures are valid. */
  readonly inputs: number
}

type Coin = Parameters<typeof verifyTransaction>[0]["coins"][number]

const sameHeader = ({ bits, bytes: own, merkleRoot, nonce, prevHash, time, version }: header.Header): boolean =>
  bytes.equal(header.makeHeader({ version, prevHash, merkleRoot, time, bits, nonce }).bytes, own)

const sameTransaction = (given: transaction.Transaction): boolean =>
  bytes.equal(transaction.makeTransaction(given).bytes, given.bytes)

const REGTEST = params.paramsOf(networks.networks.regtest)

/** Blocks in hexadecimal digits from genesis on. */
export const readChain = (blocks: ReadonlyArray<string>): ReadonlyArray<BlockRead> => {
  const coinsOf = new Map<string, Coin>()
  return blocks.map((text, height) => {
    const read = block.decodeBlock(bytes.fromHex(text) ?? bytes.EMPTY)
    let inputs = 0
    for (const each of read.transactions) {
      if (!each.isCoinbase) {
        const coins = each.inputs.flatMap(({ prevout }) => coinsOf.get(bytes.toHex(prevout)) ?? [])
        const failure = verifyTransaction({ transaction: each, coins }, flags.blockFlags(height, REGTEST))
        if (failure === undefined) inputs += coins.length
      }
      for (const [index, output] of each.outputs.entries()) {
        coinsOf.set(bytes.toHex(transaction.outpoint(each.txid, index)), {
          ...output,
          height,
          coinbase: each.isCoinbase
        })
      }
    }
    return {
      hash: bytes.displayHash(read.hash),
      txids: read.transactions.map(({ txid }) => bytes.displayHash(txid)),
      wtxids: read.transactions.map(({ wtxid }) => bytes.displayHash(wtxid)),
      isSameAgain: sameHeader(read.header) && read.transactions.every(sameTransaction),
      names: read.transactions.flatMap((each) =>
        each.outputs
      ).filter(({ script }) => nameOperation.parseNameScript(script) !== undefined).length,
      inputs
    }
  })
}

export { lint } from "svcd/values"
