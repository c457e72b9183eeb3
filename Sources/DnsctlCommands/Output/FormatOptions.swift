// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// How answers are written: `--format`, and its short forms.
struct FormatOptions: ParsableArguments {
  @Option(
    name: [.customShort("f", allowingJoined: true), .customLong("format")],
    help: "How answers are written. (default: text)")
  var format: OutputFormat?

  @Flag(help: "The same as --format json.")
  var json = false

  @Flag(help: "The same as --format short.")
  var short = false

  /// The format that was chosen.
  var chosen: OutputFormat { json ? .json : short ? .short : format ?? .text }

  func validate() throws {
    guard !json || !short, format == nil || format == chosen else {
      throw ValidationError("Choose one of --format, --json and --short.")
    }
  }
}

/// Whether text is coloured: `--color`.
struct ColourOptions: ParsableArguments {
  @Option(help: "Whether text is coloured: auto is at a terminal, unless NO_COLOR is set.")
  var color = ColourChoice.auto
}

/// When text is coloured.
package enum ColourChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, always, never
}

extension CommandContext {
  /// The same context, with the colours that were chosen.
  func coloured(_ options: ColourOptions) -> CommandContext {
    var context = self
    context.colour = options.color
    return context
  }
}

/// The output format of commands that have only text and JSON: `--format`, and its short forms.
struct ShownFormatOptions: ParsableArguments {
  /// The formats.
  enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

  @Option(
    name: [.customShort("f", allowingJoined: true), .customLong("format")],
    help: "How the result is written. (default: text)")
  var format: Format?

  @Flag(help: "The same as --format json.")
  var json = false

  var isJSON: Bool { json || format == .json }

  func validate() throws {
    guard !json || format ?? .json == .json else { throw ValidationError("Choose one of --format and --json.") }
  }
}
