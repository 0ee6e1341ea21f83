export { default } from './topics.js';
