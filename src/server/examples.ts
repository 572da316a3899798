/**
 * The queries that stand ready in GraphiQL. Tests run each of them against the demo store.
 */
export const EXAMPLES: readonly string[] = [
  `# Your conversations, newest activity first.
# Press the play button, or Ctrl-Enter.
query Conversations {
  sessions(first: 10) {
    totalCount
    nodes {
      sessionId
      displayTitle
      source { label }
      model
      lastActiveAt
      messageCount
      liveness { state }
    }
    hiddenCounts { reason count }
    pageInfo { hasNextPage endCursor }
  }
}
`,
  `# The latest conversation with its newest
# messages, tool calls joined to their results.
query LatestConversation {
  sessions(first: 1) {
    nodes {
      sessionId
      displayTitle
      usage { inputTokens outputTokens estimatedCostUsd actualCostUsd }
      messages(last: 10) {
        totalCount
        pageInfo { hasPreviousPage startCursor }
        nodes {
          role
          text
          timestamp
          toolCalls { name rawArguments result { text } }
          displayKind
        }
      }
    }
  }
}
`,
  `# Search everything that was said.
query Search {
  searchMessages(query: "plan", first: 10) {
    route
    degraded
    nodes {
      snippet
      session { sessionId displayTitle }
      context(around: 1) { role text }
    }
  }
}
`,
  `# Where conversations come from: chains, branches,
# sub-agents. Any Mermaid viewer draws "mermaid".
query Lineage {
  sessions(first: 5, filter: { includeDelegates: true }) {
    nodes {
      sessionId
      displayTitle
      lineage {
        segments { sessionId endReason }
        edges { parentSessionId childSessionId kind }
        problems { code message }
        mermaid
      }
    }
  }
}
`,
  `# What it costs, by model and task; and how
# each store is.
query UsageAndHealth {
  usage(groupBy: [MODEL, TASK]) {
    key
    sessions
    sessionsWithoutCost
    usage { inputTokens outputTokens estimatedCostUsd actualCostUsd }
  }
  profiles {
    name
    store { health problem schemaVersion sessionCount messageCount sizeBytes searchDegraded }
  }
}
`,
  `# A turn as it is written: text, tools, rows.
# Put the sessionId of a conversation here; the tab
# after this one shows where something goes on.
subscription Turn {
  liveTurn(sessionId: "SESSION-ID") {
    cursor
    events {
      kind
      at
      ... on LiveSnapshot { text liveness { state } }
      ... on TurnStarted { pendingText }
      ... on TextDelta { text }
      ... on ToolStarted { name argsPreview }
      ... on ToolFinished { name isError resultPreview }
      ... on MessagesAppended { ids }
      ... on TurnEnded { outcome certainty }
    }
  }
}
`,
  `# Press play and leave it running: every session
# that another program touches arrives here.
subscription Follow {
  liveSessions {
    cursor
    changes {
      sessionId
      kinds
      session { displayTitle messageCount lastActiveAt }
      liveness { state evidence }
    }
  }
}
`,
];
