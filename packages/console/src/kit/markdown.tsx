/* Markdown of admins as a reader sees it. Nothing of it is ever HTML. */
import { Anchor } from '@mantine/core'
import { InfoIcon } from '@primer/octicons-react'
import { Fragment, useMemo, type ReactNode } from 'react'
import {
  createMarkdownReader,
  type Block,
  type Inline,
} from '../../../server/src/sign-in/pages/markdown/read-markdown.ts'
import classes from './markdown.module.css'
import { texts } from './texts.ts'

/** Another page or a letter, never a script. */
const readMarkdown = createMarkdownReader((address) =>
  /^(?:https?:\/\/|mailto:)[^\s<>"'`]+$/i.test(address),
)

export function Markdown({ text }: { readonly text: string }) {
  const blocks = useMemo(() => readMarkdown(text), [text])
  return <div className={classes.text}>{blocks.map(showBlock)}</div>
}

function showBlock(block: Block, index: number): ReactNode {
  switch (block.kind) {
    case 'heading':
      // A text inside of a page has no place in the order of the page's headings.
      return (
        <p key={index} className={classes.heading}>
          {showInlines(block.text)}
        </p>
      )
    case 'paragraph':
      return <p key={index}>{showInlines(block.text)}</p>
    case 'code':
      return (
        <pre key={index} tabIndex={0}>
          {block.text}
        </pre>
      )
    case 'quote':
      return <blockquote key={index}>{block.blocks.map(showBlock)}</blockquote>
    case 'list': {
      const List = block.isOrdered ? 'ol' : 'ul'
      return (
        <List key={index}>
          {block.items.map((item, place) => (
            <li key={place}>{item.map(showBlock)}</li>
          ))}
        </List>
      )
    }
    case 'rule':
      return <hr key={index} />
  }
}

function showInlines(inlines: readonly Inline[]): ReactNode {
  return inlines.map((inline, index) => <Fragment key={index}>{showInline(inline)}</Fragment>)
}

function showInline(inline: Inline): ReactNode {
  if (typeof inline === 'string') return inline
  switch (inline.kind) {
    case 'strong':
      return <strong>{showInlines(inline.text)}</strong>
    case 'em':
      return <em>{showInlines(inline.text)}</em>
    case 'code':
      return <code>{inline.text}</code>
    case 'info':
      return <InfoIcon size={14} aria-label={texts.infoButton} />
    case 'link':
      return (
        <Anchor
          href={inline.to}
          target="_blank"
          rel="noopener noreferrer"
          inherit
          underline="always"
        >
          {showInlines(inline.text)}
        </Anchor>
      )
  }
}
