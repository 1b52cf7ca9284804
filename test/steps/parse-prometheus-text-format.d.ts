declare module 'parse-prometheus-text-format' {
  /** Parses the text format of Prometheus; null for an empty text. */
  export default function parse(text: string):
    | {
        name: string
        type: string
        help: string
        metrics: {
          labels?: Record<string, string>
          value?: string
          buckets?: Record<string, string>
          count?: string
          sum?: string
        }[]
      }[]
    | null
}
