// SPDX-License-Identifier: Apache-2.0
/// Writes outcomes in their order, answers and errors each where they belong, and keeps the worst status.
struct OutcomeWriter<Outcome> {
  private let output: any OutputSink
  private let errors: any OutputSink
  private let render: (Outcome) -> (RenderedOutcome, ExitStatus)
  private(set) var status = ExitStatus.answered

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - context: where is written to.
  ///   - render: what is written for an outcome, and what it means for the process.
  init(_ context: CommandContext, render: @escaping (Outcome) -> (RenderedOutcome, ExitStatus)) {
    output = context.output
    errors = context.errors
    self.render = render
  }

  /// Writes outcomes; all of it is out when the call returns.
  mutating func write(_ outcomes: [Outcome]) throws(StreamError) {
    var answers = ""
    for outcome in outcomes {
      let (rendered, status) = render(outcome)
      self.status = self.status.joined(status)
      answers += rendered.output
      guard !rendered.errors.isEmpty else { continue }
      // On a terminal both streams meet: what came before the error stands before it.
      try flush(&answers)
      errors.say(rendered.errors)
    }
    try flush(&answers)
  }

  private func flush(_ text: inout String) throws(StreamError) {
    guard !text.isEmpty else { return }
    try output.write(text)
    text = ""
  }
}
