import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  toCaddy,
  toEnvoy,
  toNginx,
  toTraefik,
} from '../../../console/src/sign-in-gate/guides/proxy-configurations.ts'

const GUIDE = new URL('../../../../docs/sign-in.md', import.meta.url)
const asked = { hosts: ['wiki.example.com'], auth: 'https://trust.example.com/sign-in/auth' }

describe('what a guide of the console has one enter at a proxy', () => {
  it.each([
    ['nginx', toNginx(asked)],
    ['Caddy', toCaddy(asked)],
    ['Traefik', toTraefik(asked)],
    ['Envoy', toEnvoy(asked)],
  ])('is what the documentation says of %s', async (name, configuration) => {
    const [, section = ''] = (await readFile(GUIDE, 'utf8')).split(`\n### ${name}\n`)
    const [, shown] = /```[a-z]+\n([^]*?)```/.exec(section) ?? []
    expect(`${configuration}\n`).toBe(shown)
  })

  it('names every host, with its port', () => {
    const several = { ...asked, hosts: ['a.example.com', 'b.example.com:8443'] }
    expect(toNginx(several)).toContain('listen 8443 ssl;\n  server_name b.example.com;')
    expect(toNginx(several)).toContain('X-Original-URL https://b.example.com:8443$request_uri;')
    expect(toNginx(several)).toContain('X-Original-URL https://a.example.com$request_uri;')
    expect(toCaddy(several)).toContain('a.example.com, b.example.com:8443 {')
    expect(toTraefik(several)).toContain('Host(`a.example.com`) || Host(`b.example.com`)')
  })
})
