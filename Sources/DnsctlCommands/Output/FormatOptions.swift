internal import ArgumentParser

/// How answers are written: `--format`, its short forms, and colours.
struct FormatOptions: ParsableArguments {
  @Option(name: .shortAndLong, help: "How answers are written. (default: text)")
  var format: OutputFormat?

  @Flag(help: "The same as --format json.")
  var json = false

  @Flag(help: "The same as --format short.")
  var short = false

  @Option(help: "Whether text is coloured: auto is at a terminal, unless NO_COLOR is set.")
  var color = ColourChoice.auto

  /// The format that was chosen.
  var chosen: OutputFormat { json ? .json : short ? .short : format ?? .text }

  func validate() throws {
    guard !json || !short, format == nil || format == chosen else {
      throw ValidationError("Choose one of --format, --json and --short.")
    }
  }
}

/// When text is coloured.
package enum ColourChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
  case auto, always, never
}

extension CommandContext {
  /// The same world, in which text is coloured as somebody chose.
  func coloured(_ choice: ColourChoice) -> CommandContext {
    var context = self
    context.colour = choice
    return context
  }
}
