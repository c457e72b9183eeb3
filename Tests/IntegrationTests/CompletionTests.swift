// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The completions, in the shells that they are for.
@Suite(.timeLimit(.minutes(1)))
struct CompletionTests {
  enum Shell: String, CaseIterable {
    case bash, zsh, fish

    /// Where the run vouches for the code a missing shell is a failure.
    var isThere: Bool {
      ServerFixture.isVouching || ServerFixture.path(of: rawValue) != nil
    }

    /// Prints the words that the shell offers for the last one of a line, one a line; `$script` is the completion.
    func offers(_ line: String) -> String {
      switch self {
      case .bash:
        """
        source "$script"
        COMP_LINE='\(line)' COMP_POINT=${#COMP_LINE}
        read -ra COMP_WORDS <<<"$COMP_LINE"
        [ "${COMP_LINE: -1}" != ' ' ] || COMP_WORDS+=('')
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _dnsctl dnsctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\\n' "${COMPREPLY[@]}"
        """
      case .zsh:
        // A shell at a terminal of its own, in which the key is pressed; what is offered passes by compadd.
        """
        zmodload zsh/zpty
        mkdir functions && cp "$script" functions/_dnsctl
        cat >setup <<'END'
        PS1= PS2= RPS1=
        stty -echo cols 500
        fpath=($PWD/functions $fpath)
        autoload -U compinit && compinit -u -D
        compadd() {
          if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
          local -a offered
          builtin compadd -A offered "$@"
          print -rl -- $offered
          builtin compadd "$@"
        }
        offer() { _main_complete; print offered all; compstate[insert]= compstate[list]= }
        zle -C offer complete-word offer
        bindkey '^I' offer
        print is ready
        END
        zpty shell zsh -f -i
        zpty -w -n shell $'source ./setup\\r'
        zpty -r -m shell seen '*is ready*'
        zpty -w -n shell $'\(line)\\t'
        zpty -r -m shell seen '*offered all*'
        print -r -- "$seen"
        """
      case .fish: "source $script; complete -C '\(line)'"
      }
    }
  }

  private func offered(_ line: String, in shell: Shell) async throws -> String {
    let folder = try ServerFixture.newFolder("completion")
    let script = try await Program().run(["--generate-completion-script", shell.rawValue])
    try #require(script.status == 0)
    try script.output.write(to: folder.appending(path: "script"), atomically: false, encoding: .utf8)
    try shell.offers(line).write(to: folder.appending(path: "run"), atomically: false, encoding: .utf8)
    // The completions ask the program itself for some words: it stands in PATH.
    // What has the name of a command is no command.
    try FileManager.default.createDirectory(at: folder.appending(path: "resolve"), withIntermediateDirectories: false)
    try Data().write(to: folder.appending(path: "recipe.txt"))
    let programs = Program.url.deletingLastPathComponent().path
    let start = shell == .zsh ? "zsh -f run" : shell == .fish ? "fish --no-config run" : "bash --norc run"
    let run = try await ServerFixture.run(
      "bash",
      ["-c", "cd '\(folder.path)' && PATH='\(programs)':$PATH HOME=$PWD script=$PWD/script TERM=xterm \(start) 2>&1"])
    return String(decoding: run.output, as: UTF8.self)
  }

  @Test func `bash takes paths alone for names of files, to which it adds a slash`() async throws {
    let script = try await Program().run(["--generate-completion-script", "bash"])
    #expect(script.output.contains("\ncomplete -F _dnsctl dnsctl") && script.output.contains("compopt -o filenames"))
  }

  @Test(arguments: Shell.allCases)
  func `verbs, options and their values are offered`(shell: Shell) async throws {
    if !shell.isThere { try Test.cancel("\(shell) is not installed") }
    for (line, expected, others) in [
      ("dnsctl re", ["resolve", "restore", "rewrite"], ["fetch"]),
      ("dnsctl cache ", ["list", "show", "clear"], ["resolve"]),
      ("dnsctl help ", ["resolve", "watch", "exec"], ["--format"]),
      ("dnsctl help re", ["resolve", "restore", "rewrite"], ["watch"]),
      ("dnsctl resolve --fo", ["--format"], ["--retry"]),
      ("dnsctl fetch --ret", ["--retry"], ["--family"]),
      ("dnsctl resolve --family ", ["any", "ipv4", "ipv6"], ["--family"]),
      // fish went round for ever at these.
      ("dnsctl fetch --http1.1 --ret", ["--retry"], ["--family"]),
      ("dnsctl resolve --bogus --fo", ["--format"], ["--retry"]),
      ("dnsctl exec --ja", ["--java"], ["--format"]),
      ("dnsctl exec -- mkfif", ["mkfifo"], ["--java"]),
      ("dnsctl exec --store sqlite -- cat rec", ["recipe.txt"], ["--java"]),
    ] {
      let said = try await offered(line, in: shell)
      for word in expected { #expect(said.contains(word), "\(shell): \(line): \(said.debugDescription)") }
      // A shell may repeat the line.
      for word in others where !line.contains(word) {
        #expect(!said.contains(word), "\(shell): \(line): \(said.debugDescription)")
      }
    }
  }
}
