import { Effect } from "effect"
import { ScryptCost } from "../../src/wallet/keys/seal.ts"

/** Encrypts wallets with the least work that a wallet file may state, for tests of something else. */
export const withCheapScrypt = Effect.provideService(ScryptCost, { logN: 10, r: 1, p: 1 })
