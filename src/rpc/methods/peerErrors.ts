import { methodHelp } from "../method/help.ts"
import type { Method } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"

export const nodeError = (code: number, message: string): RpcError => new RpcError({ code, message })

/** The error for an unknown command word of a method: the method's help, as in the reference node. */
export const usageError = (self: () => Method): RpcError => RpcError.misc(methodHelp(self()))
