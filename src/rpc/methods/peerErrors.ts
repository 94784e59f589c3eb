import { methodHelp } from "../method/help.ts"
import type { Method } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"

/** An error with one of the codes about peers. */
export const nodeError = (code: number, message: string): RpcError => new RpcError({ code, message })

/** A command word decides what the method does: an unknown word is answered with the method's help. */
export const usageError = (self: () => Method): RpcError => RpcError.misc(methodHelp(self()))
