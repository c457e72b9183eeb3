// SPDX-License-Identifier: Apache-2.0
/// Writes results in order, answers and errors to their own streams, and keeps the highest status.
struct OutcomeWriter<Outcome> {
  private let output: any OutputSink
  private let errors: any OutputSink
  private let render: (Outcome) -> (RenderedOutcome, ExitStatus)
  private(set) var status = ExitStatus.answered

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - context: has the streams.
  ///   - render: returns the output for a result, and its exit status.
  init(_ context: CommandContext, render: @escaping (Outcome) -> (RenderedOutcome, ExitStatus)) {
    output = context.output
    errors = context.errors
    self.render = render
  }

  /// Writes results; everything is written when the call returns.
  mutating func write(_ outcomes: [Outcome]) throws(StreamError) {
    var answers = ""
    for outcome in outcomes {
      let (rendered, status) = render(outcome)
      self.status = self.status.joined(status)
      answers += rendered.output
      guard !rendered.errors.isEmpty else { continue }
      // A terminal shows both streams, so everything before the error is written first.
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
