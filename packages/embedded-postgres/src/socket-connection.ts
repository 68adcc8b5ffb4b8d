/** A server that is reached through its Unix socket: `host` is the folder of the socket. */
export interface SocketConnection {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
}
