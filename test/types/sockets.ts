// `sockets()` takes the servers of socket.io, whose types it does not depend on. Compiled only, never run.

import { Server } from 'socket.io'
import { createSpillway, type SocketsHandle, type WebSocketServer } from '../../index.js'

const spillway = createSpillway()
export const handle: SocketsHandle = spillway.sockets(new Server(), {
  priority: (event, _socket) => (event === 'typing' ? 'low' : undefined),
})
declare const wss: WebSocketServer
export const other: SocketsHandle = spillway.sockets(wss, {
  kind: (data: Buffer, isBinary) => (isBinary ? 'binary' : String(data)),
})
// @ts-expect-error ws has kinds, Socket.IO has names
spillway.sockets(new Server(), { kind: () => 'x' })
// @ts-expect-error a server of HTTP is given to attach()
spillway.sockets(process)
