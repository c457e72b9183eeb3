/// Writes outcomes in their order, answers and errors each where they belong, and keeps the worst status.
struct OutcomeWriter {
  private let output: any OutputSink
  private let errors: any OutputSink
  private let format: OutputFormat
  private let layout: TextTable
  private(set) var status = ExitStatus.answered

  init(_ context: CommandContext, format: OutputFormat, layout: TextTable) {
    output = context.output
    errors = context.errors
    self.format = format
    self.layout = layout
  }

  /// Writes outcomes; all of it is out when the call returns.
  mutating func write(_ outcomes: [LookupOutcome]) throws(StreamError) {
    var answers = ""
    for outcome in outcomes {
      status = status.joined(outcome.status)
      let rendered = format.render(outcome, layout)
      answers += rendered.output
      guard !rendered.errors.isEmpty else { continue }
      // On a terminal both streams meet: what came before the error stands before it.
      try flush(&answers)
      // Whoever closed standard error does not want to know.
      try? errors.write(rendered.errors)
    }
    try flush(&answers)
  }

  private func flush(_ text: inout String) throws(StreamError) {
    guard !text.isEmpty else { return }
    try output.write(text)
    text = ""
  }
}
