import { expect, it } from 'vitest'
import { renderDocument } from '../kit/markup.ts'
import { en } from '../texts/en.ts'
import { showMarkdown } from './show-markdown.ts'

const show = (text: string) =>
  renderDocument(showMarkdown(text, en)).slice('<!doctype html>'.length)

it('steps are a list, with what is emphasised and what is code', () => {
  expect(show('1. Open **Settings** and `ls`.\n2. *Wait*.')).toBe(
    '<ol><li><p>Open <strong>Settings</strong> and <code>ls</code>.</p></li><li><p><em>Wait</em>.</p></li></ol>',
  )
})

it('the info button of macOS is drawn, and named for who cannot see it', () => {
  const shown = show('Choose the **ⓘ** next to it.')
  expect(shown).toContain('role="img" aria-label="info button"')
  expect(shown).toContain('<svg')
  expect(shown).not.toContain('ⓘ')
})

it('a command can be copied', () => {
  expect(show('Run `sudo ufw enable`.')).toContain(
    'data-copy="sudo ufw enable" hidden>Copy</button>',
  )
  expect(show('```\nlsblk\n```')).toContain('data-copy="lsblk" hidden>Copy</button>')
})

it('settings of the operating system can be opened', () => {
  expect(show('[Open](ms-settings:windowsupdate)')).toContain('<a href="ms-settings:windowsupdate"')
})

it.each([
  '<script>alert(1)</script>',
  '[x](javascript:alert(1))',
  '<javascript:alert(1)>',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
  '![x](https://evil.example.com/pixel.png)',
  '<img src=x onerror=alert(1)>',
  '**<svg onload=alert(1)>**',
  '```\n</pre><script>alert(1)</script>\n```',
  '[<b onclick=alert(1)>](https://example.com)',
  '[x](https://example.com/"onclick="alert(1))',
])('nothing of %j is HTML, a script or loaded from elsewhere', (text) => {
  const tags = show(text).match(/<(?:"[^"]*"|[^">])*>/g) ?? []
  for (const tag of tags) {
    expect(tag).toMatch(
      /^<\/?(?:p|strong|em|code|pre|div|span|button|a|ul|ol|li|blockquote)(?: (?:href="(?:https?:|mailto:)[^"]*"|target="_blank"|rel="noopener noreferrer"|class="[a-z]+"|type="button"|data-copy="[^"]*"|tabindex="0"|hidden))*>?$/,
    )
  }
})
