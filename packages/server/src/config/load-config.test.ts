import { describe, expect, it } from 'vitest'
import { ConfigError, loadConfig } from './load-config.ts'

describe('loadConfig', () => {
  it('has a working default for everything', () => {
    expect(loadConfig({})).toMatchObject({
      baseUrl: 'http://127.0.0.1:8080',
      rateLimitPerMinute: 270,
      roles: ['api', 'agents', 'worker'],
    })
  })

  it('takes the port and the scheme into the default base URL', () => {
    const config = loadConfig({ HELIOGRAPH_PORT: '9000', HELIOGRAPH_TLS_CERT: 'self-signed' })
    expect(config.baseUrl).toBe('https://127.0.0.1:9000')
  })

  it('lets a flag win over a variable', () => {
    expect(loadConfig({ HELIOGRAPH_PORT: '1' }, { HELIOGRAPH_PORT: '2' }).port).toBe(2)
  })

  it('drops trailing slashes of the base URL', () => {
    expect(loadConfig({ HELIOGRAPH_BASE_URL: 'https://trust.example.com/' }).baseUrl).toBe(
      'https://trust.example.com',
    )
  })

  it('reports all problems at once and never a secret value', () => {
    const attempt = () =>
      loadConfig({
        HELIOGRAPH_PORT: 'many',
        HELIOGRAPH_ROLES: 'api,cook',
        HELIOGRAPH_LOG_LEVEL: 'loud',
        DATABASE_URL: 'mysql://root:hunter2@db',
      })
    expect(attempt).toThrow(ConfigError)
    try {
      attempt()
    } catch (error) {
      const { problems, message } = error as ConfigError
      expect(problems).toHaveLength(4)
      expect(message).toContain('HELIOGRAPH_PORT (--port)')
      expect(message).not.toContain('hunter2')
    }
  })

  it('refuses plain HTTP for anything but loopback', () => {
    expect(() => loadConfig({ HELIOGRAPH_BASE_URL: 'http://trust.example.com' })).toThrow(/https/)
    expect(loadConfig({ HELIOGRAPH_BASE_URL: 'http://localhost:81' }).baseUrl).toBe(
      'http://localhost:81',
    )
  })

  it('refuses a certificate without its key', () => {
    expect(() => loadConfig({ HELIOGRAPH_TLS_CERT: '/etc/cert.pem' })).toThrow(/belong together/)
  })
})
