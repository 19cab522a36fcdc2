// Plays random games of draw and discard through boardgame.io's reducer; prints moves and CPU seconds.
// Arguments: seed, seconds. The rules are the least that a rummy needs: four hands, a stock, a pile, turns.
const { CreateGameReducer, InitializeGame } = require("boardgame.io/internal");

const TURNS = 100; // about as long as one of our rounds

function dealt({ random }) {
  const deck = random.Shuffle(Array.from({ length: 108 }, (_, card) => card));
  return { hands: [0, 1, 2, 3].map((seat) => deck.slice(11 * seat, 11 * seat + 11)), stock: deck.slice(45), pile: [deck[44]] };
}

function draw({ G, playerID, random }) {
  if (!G.stock.length) G.stock = random.Shuffle(G.pile.splice(0, G.pile.length - 1));
  G.hands[playerID].push(G.stock.pop());
}

function take({ G, playerID }) {
  G.hands[playerID].push(G.pile.pop());
}

function discard({ G, playerID, events }, place) {
  G.pile.push(...G.hands[playerID].splice(place, 1));
  events.endTurn();
}

const game = { setup: dealt, moves: { draw, take, discard }, disableUndo: true };

// A small generator of our own, since Math.random takes no seed (mulberry32).
function generator(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function makeMove(type, args, playerID) {
  return { type: "MAKE_MOVE", payload: { type, args, playerID } };
}

function spent(since) {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
}

const [seed, seconds] = process.argv.slice(2).map(Number);
const luck = generator(seed);
const reducer = CreateGameReducer({ game });
const began = process.cpuUsage();
let moves = 0;
for (let number = 0; spent(began) < seconds; number += 1) {
  let state = InitializeGame({ game: { ...game, seed: seed * 1e6 + number }, numPlayers: 4 });
  for (let turn = 0; turn < TURNS; turn += 1) {
    const seat = state.ctx.currentPlayer;
    state = reducer(state, makeMove(luck() < 0.5 ? "take" : "draw", [], seat));
    state = reducer(state, makeMove("discard", [Math.floor(luck() * state.G.hands[seat].length)], seat));
    moves += 2;
  }
  if (state._stateID !== 2 * TURNS) throw new Error(`${state._stateID} of ${2 * TURNS} moves were taken`);
}
console.log(moves, spent(began));
