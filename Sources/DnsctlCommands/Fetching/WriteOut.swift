// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// `-w`: what is written after a transfer, in curl's format.
struct WriteOut: Sendable, Hashable {
  enum Piece: Sendable, Hashable {
    case text(String)
    case variable(WriteOutVariable)
    /// `%header{name}`.
    case header(String)
    case json, headerJSON
    case toErrors, toOutput
    /// What follows is written only for transfers that failed.
    case onError
  }

  let pieces: [Piece]
  /// The names of unknown variables.
  let unknown: [String]

  init(_ format: String) {
    var pieces: [Piece] = []
    var unknown: [String] = []
    var text = String.UnicodeScalarView()
    func flush() {
      if !text.isEmpty { pieces.append(.text(String(text))) }
      text = String.UnicodeScalarView()
    }
    var rest = format.unicodeScalars[...]
    /// Takes a name in braces that follows a word.
    func braced(_ word: String) -> String? {
      guard String(rest).hasPrefix(word + "{"), let end = rest.firstIndex(of: "}") else { return nil }
      let name = String(rest[..<end].dropFirst(word.unicodeScalars.count + 1))
      rest = rest[rest.index(after: end)...]
      return name
    }
    while let next = rest.popFirst() {
      switch next {
      case "\\":
        guard let letter = rest.popFirst() else {
          text.append(next)
          break
        }
        switch letter {
        case "n": text.append("\n")
        case "r": text.append("\r")
        case "t": text.append("\t")
        // An unknown escape stands for itself.
        default: text += "\\\(letter)".unicodeScalars
        }
      case "%":
        if rest.first == "%" {
          rest.removeFirst()
          text.append("%")
        } else if let name = braced("header") {
          flush()
          // Later versions of curl have options there, behind a colon, which no field's name has.
          if HTTPField.Name(name) != nil { pieces.append(.header(name)) } else { unknown.append("header{\(name)}") }
        } else if let name = braced("output").map({ "output{\($0)}" }) ?? braced("time").map({ "time{\($0)}" }) {
          // Of later versions of curl, too.
          unknown.append(name)
        } else if let name = braced("") {
          flush()
          if let piece = Self.piece(name) { pieces.append(piece) } else { unknown.append(name) }
        } else {
          text.append("%")
        }
      default: text.append(next)
      }
    }
    flush()
    self.pieces = pieces
    self.unknown = unknown
  }

  private static func piece(_ name: String) -> Piece? {
    // In any case, as in curl.
    let name = name.lowercased()
    return switch name {
    case "json": .json
    case "header_json": .headerJSON
    case "stderr": .toErrors
    case "stdout": .toOutput
    case "onerror": .onError
    default: WriteOutVariable(rawValue: name).map { .variable($0) }
    }
  }

  /// The texts to write, and whether to standard error.
  ///
  /// - Parameters:
  ///   - report: the transfer's report.
  ///   - isShown: whether a terminal shows what comes from outside: then it is made safe for it.
  /// - Returns: texts in their order; a field's octets need not be UTF-8.
  func texts(
    _ report: TransferReport, isShown: (_ isForErrors: Bool) -> Bool
  ) -> [(text: [UInt8], isForErrors: Bool)] {
    var isForErrors = false
    var texts: [(text: [UInt8], isForErrors: Bool)] = []
    func add(_ text: String) { texts.append((Array(text.utf8), isForErrors)) }
    func addValue(of field: HTTPField) {
      guard !isShown(isForErrors) else { return add(field.value.printable) }
      var octets: [UInt8] = []
      octets.append(valueOf: field)
      texts.append((octets, isForErrors))
    }
    for piece in pieces {
      switch piece {
      case .text(let text): add(text)
      case .variable(.contentType):
        if let field = report.now.contentType { addValue(of: field) }
      case .variable(let variable):
        let text = variable.value(of: report).text
        add(isShown(isForErrors) ? text.printable : text)
      case .header(let name):
        if let field = Self.header(name, report) { addValue(of: field) }
      case .json: add(Self.json(report))
      case .headerJSON: add(Self.headerJSON(report))
      case .toErrors: isForErrors = true
      case .toOutput: isForErrors = false
      case .onError: if report.now.status == .answered { return texts }
      }
    }
    return texts
  }

  /// The first field of that name.
  private static func header(_ name: String, _ report: TransferReport) -> HTTPField? {
    guard let name = HTTPField.Name(name) else { return nil }
    return report.now.head?.headerFields.first { $0.name == name }
  }

  private static func json(_ report: TransferReport) -> String {
    var line = JSONLine()
    for variable in WriteOutVariable.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
      line.add(variable.rawValue, variable.value(of: report).json)
    }
    line.add("dnsctl_version", JSONLine.string(DnsctlVersion.text))
    return line.object
  }

  /// Names in lower case, each with the list of its values.
  private static func headerJSON(_ report: TransferReport) -> String {
    guard let fields = report.now.head?.headerFields else { return "{}" }
    var names: [HTTPField.Name] = []
    for field in fields where !names.contains(field.name) { names.append(field.name) }
    let members = names.map { name in
      JSONLine.string(name.canonicalName) + ":" + JSONLine.array(fields[values: name].map(JSONLine.string))
    }
    return "{\(members.joined(separator: ","))}"
  }
}

extension WriteOut {
  /// Reads the format of an option: `@FILE` names a file, whose lines are put together as those of `-d` are.
  static func read(_ text: String, in context: CommandContext) throws(CommandError) -> WriteOut {
    guard text.hasPrefix("@") else { return WriteOut(text) }
    let path = String(text.dropFirst())
    let bytes = InputFile.withoutLineEnds(try InputFile.read(path, for: "-w", by: context.readFile))
    guard let format = String(validating: bytes, as: UTF8.self) else {
      throw CommandError(.usage, "-w: \(path.printable) is not UTF-8.")
    }
    return WriteOut(format)
  }

  /// Writes it: the format's own text as it is, and values without control characters if a terminal shows them.
  func write(_ report: TransferReport, in context: CommandContext) -> ExitStatus {
    for (text, isForErrors) in texts(report, isShown: { $0 || context.isOutputTerminal }) {
      guard !isForErrors else {
        try? context.errors.write(text)
        continue
      }
      do throws(StreamError) { try context.output.write(text) } catch {
        return CommandError(error).status(in: context)
      }
    }
    return .answered
  }
}
