import { SegmentedControl, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { postCustomCheckDraftsByIdPreview } from '../../api/generated/sdk.gen.ts'
import type { CustomCheckDraft, DraftPreview } from '../../api/generated/types.gen.ts'
import { CodeBlock } from '../../kit/code-block.tsx'
import { Fault } from '../../kit/confirm.tsx'
import { Markdown } from '../../kit/markdown.tsx'
import { Section } from '../../kit/page.tsx'
import classes from '../checks.module.css'
import { texts } from './texts.ts'

/** What somebody at a device would read, rendered by the service from the saved draft and its examples. */
export function DraftReader({ draft }: { readonly draft: CustomCheckDraft }) {
  const [platform, setPlatform] = useState<string>()
  const { data, error } = useQuery({
    queryKey: ['custom_check_drafts', draft.id, 'preview', draft.updated_at],
    queryFn: async ({ signal }) =>
      (
        await postCustomCheckDraftsByIdPreview({
          path: { id: draft.id },
          body: {},
          signal,
          throwOnError: true,
        })
      ).data,
  })
  const readers = data?.readers ?? []
  const reader = readers.find((each) => each.platform === platform) ?? readers[0]
  return (
    <Section
      title={texts.preview}
      lead={texts.previewLead}
      actions={
        readers.length > 1 ? (
          <SegmentedControl
            size="xs"
            aria-label={texts.platforms}
            value={reader?.platform ?? ''}
            onChange={setPlatform}
            data={readers.map((each) => ({
              value: each.platform,
              label: texts.platformNames[each.platform],
            }))}
          />
        ) : undefined
      }
    >
      {data === undefined && error !== null ? (
        <Fault error={error} />
      ) : data === undefined ? (
        <Skeleton height={120} />
      ) : reader === undefined ? (
        texts.noReader
      ) : (
        <Reader reader={reader} />
      )}
    </Section>
  )
}

function Reader({ reader }: { readonly reader: DraftPreview['readers'][number] }) {
  return (
    <Stack gap="md">
      {reader.problems.map((problem) => (
        <Fault key={problem} error={new Error(problem)} />
      ))}
      <b>{reader.title === '' ? texts.untitled : reader.title}</b>
      <div className={classes.texts}>
        <Passage title={texts.rationale} text={reader.rationale} />
        <Passage title={texts.fix} text={reader.fix_instructions} />
        <Passage title={texts.privacy} text={reader.privacy_info} />
      </div>
      {reader.privacy_example === null || reader.privacy_example === undefined ? null : (
        <CodeBlock name={texts.privacyExample} value={reader.privacy_example} />
      )}
    </Stack>
  )
}

function Passage({ title, text }: { readonly title: string; readonly text: string | null }) {
  return (
    <div>
      <h3>{title}</h3>
      <Markdown text={text === null || text === '' ? '–' : text} />
    </div>
  )
}
