/** The part of a structured logger that deliveries need; pino's loggers fit. */
export interface DeliveryLog {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
